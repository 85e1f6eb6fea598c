/* The key `claim`: what serves where a certificate counts, and where none does. The provider on the scripted CPU. */

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rand.h>

#include "provider/observe/stats.h"
#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { SEED_LEN = 48, TAKEN_BEFORE = 0xaa };

struct make {
    char vendor[13];
    unsigned family;
    unsigned model;
    unsigned stepping;
};

static const struct make epyc = {"AuthenticAMD", 0x19, 0x11, 1};
static const struct make xeon = {"GenuineIntel", 0x06, 0x8f, 8};
static const struct make hygon = {"HygonGenuine", 0x18, 0x01, 1};

/* Of a process that has seen nothing yet, on a CPU of this make. */
static OSSL_LIB_CTX *on_cpu(const struct make *make, const char *keys)
{
    struct drng_cpu *cpu = &drng_process.evidence.cpu;
    scripted_reset(scripted_good, scripted_good);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        drng_process.instructions[i] = (struct drng_instruction){
            .row = &drng_instruction_rows[i], .counters = &drng_stats.live->counters.instructions[i]};
    }
    memcpy(cpu->vendor, make->vendor, sizeof(make->vendor));
    cpu->family = make->family;
    cpu->model = make->model;
    cpu->stepping = make->stepping;
    OSSL_LIB_CTX *libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    return libctx;
}

static bool draw_from(OSSL_LIB_CTX *libctx, const char *name, int prediction_resistance)
{
    unsigned char out[SEED_LEN];
    memset(out, TAKEN_BEFORE, sizeof(out));
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, name, "provider=drng", NULL);
    const int drawn = EVP_RAND_generate(rand, out, sizeof(out), 0, prediction_resistance, NULL, 0);
    CU_ASSERT_TRUE(drawn == 1 || bytes_are(out, sizeof(out), 0));
    EVP_RAND_CTX_free(rand);
    return drawn == 1;
}

static void the_design_is_the_default(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(&epyc, "");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "claim"), "design");
    CU_ASSERT_TRUE(draw_from(libctx, "DRNG-SEED", 0));
    CU_ASSERT_EQUAL(scripted_rdseed.words, DRNG_STARTUP_WORDS + 2 + 3 * DRNG_RDSEED_WORDS);
    CU_ASSERT_EQUAL(evp_counter(libctx, "last-seed-bits"), 768);
    CU_ASSERT_STRING_EQUAL(drng_stats.head->claim_source,
                           "RDSEED: 256 bits in 8 words, by design; AMD's certificate allows 2 (E27; second-hand)");
    CU_ASSERT_EQUAL(drng_stats.head->certified, 0);
    OSSL_LIB_CTX_free(libctx);
}

static void a_certificate_counts_the_words(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(&epyc, "claim = certified\n");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "claim"), "certified");
    CU_ASSERT_TRUE(draw_from(libctx, "DRNG-SEED", 0));
    CU_ASSERT_EQUAL(scripted_rdseed.words, DRNG_STARTUP_WORDS + 2 + 3 * 588);
    CU_ASSERT_EQUAL(evp_counter(libctx, "last-seed-bits"), 3 * 192);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"),
                           "RDRAND: drng knows no certificate for it on this CPU (claim = certified)");
    CU_ASSERT_STRING_EQUAL(drng_stats.head->claim_source,
                           "RDSEED: 192 bits in 588 words, by AMD's certificate (E27; second-hand): compare the "
                           "processors that it lists");
    CU_ASSERT_EQUAL(drng_stats.head->certified, 1);
    OSSL_LIB_CTX_free(libctx);
}

static void a_generator_takes_its_seed_by_the_certificate(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(&xeon, "claim = certified\n");
    unsigned char out[16];
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    CU_ASSERT_EQUAL(scripted_rdseed.words, DRNG_STARTUP_WORDS + 2 + 3 * DRNG_RDSEED_WORDS);
    CU_ASSERT_EQUAL(evp_counter(libctx, "last-seed-bits"), 768);
    CU_ASSERT_STRING_EQUAL(drng_stats.head->claim_source,
                           "RDSEED: 256 bits in 8 words, by Intel's certificate (E293; second-hand): compare the "
                           "processors that it lists");
    OSSL_LIB_CTX_free(libctx);
    libctx = on_cpu(&epyc, "claim = certified\n");
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    CU_ASSERT_EQUAL(scripted_rdseed.words, DRNG_STARTUP_WORDS + 2 + 3 * 588);
    OSSL_LIB_CTX_free(libctx);
}

/* RDRAND is passed over although it is there and good. */
static void where_no_certificate_counts_the_next_source_serves(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(&hygon, "claim = certified\n");
    CU_ASSERT_TRUE(draw_from(libctx, "DRNG-SEED", 0));
    CU_ASSERT_EQUAL(scripted_rdseed.executions, 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "fallback");
    CU_ASSERT_EQUAL(evp_counter(libctx, "last-seed-bits"), 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"),
                           "RDSEED: drng knows no certificate for it on this CPU (claim = certified); "
                           "RDRAND: drng knows no certificate for it on this CPU (claim = certified)");
    CU_ASSERT_STRING_EQUAL(drng_stats.head->claim_source,
                           "no instruction makes seeds, and drng claims no entropy for those of OpenSSL's source");
    OSSL_LIB_CTX_free(libctx);
}

static void without_a_certificate_and_a_fallback_nothing_serves(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(&hygon, "claim = certified\nfallback = no\n");
    CU_ASSERT_FALSE(draw_from(libctx, "DRNG-SEED", 0));
    CU_ASSERT_TRUE(
        evp_error("fallback = no", "RDSEED: drng knows no certificate for it on this CPU (claim = certified)"));
    unsigned char out[16];
    CU_ASSERT_NOT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    ERR_clear_error();
    OSSL_LIB_CTX_free(libctx);
}

/* As a parent it makes seeds; as a generator it gives words, of which nothing is claimed. */
static void rdrand_by_its_name_makes_no_seeds_without_a_certificate(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(&xeon, "claim = certified\n");
    CU_ASSERT_TRUE(draw_from(libctx, "RDRAND", 0));
    EVP_RAND_CTX *parent = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", "provider=drng", parent);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 256, 0, NULL, 0, NULL), 0);
    CU_ASSERT_TRUE(
        evp_error("RDRAND may not be used", "drng knows no certificate for it on this CPU (claim = certified)"));
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(parent);
    OSSL_LIB_CTX_free(libctx);
}

static void rdrand_does_not_pretend_prediction_resistance(void)
{
    OSSL_LIB_CTX *libctx = on_cpu(&xeon, "");
    CU_ASSERT_FALSE(draw_from(libctx, "RDRAND", 1));
    CU_ASSERT_TRUE(evp_error("RDRAND may not be used", "it cannot give prediction resistance"));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    EVP_RAND_CTX *parent = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    EVP_RAND_CTX *child = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
    unsigned char out[16];
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    const uint64_t words = scripted_rdrand.words;
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 1, NULL, 0), 1);
    CU_ASSERT_TRUE(scripted_rdrand.words - words >= 2 * DRNG_RDRAND_WORDS);
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(parent);
    CU_ASSERT_TRUE(draw_from(libctx, "DRNG-SEED", 1));
    CU_ASSERT_TRUE(draw_from(libctx, "CTR-DRBG", 1));
    OSSL_LIB_CTX_free(libctx);
}

static const struct unit_test tests[] = {
    {"the design is the default", the_design_is_the_default},
    {"a certificate counts the words", a_certificate_counts_the_words},
    {"a generator takes its seed by the certificate", a_generator_takes_its_seed_by_the_certificate},
    {"where no certificate counts, the next source serves", where_no_certificate_counts_the_next_source_serves},
    {"without a certificate and a fallback nothing serves", without_a_certificate_and_a_fallback_nothing_serves},
    {"RDRAND by its name makes no seeds without a certificate",
     rdrand_by_its_name_makes_no_seeds_without_a_certificate},
    {"RDRAND does not pretend prediction resistance", rdrand_does_not_pretend_prediction_resistance},
};

int main(void)
{
    if (!unmask_instructions()) {
        return EXIT_FAILURE;
    }
    evp_be_quiet();
    scripted_reset(scripted_good, scripted_good);
    if (!drng_process_open(NULL)) {
        return EXIT_FAILURE;
    }
    const int result = unit_run("claims", tests, sizeof(tests) / sizeof(*tests));
    drng_process_close();
    return result;
}
