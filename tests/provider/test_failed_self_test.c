/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A known answer that comes out wrong: from then on nothing is served by any algorithm of the provider, by contexts
 * made before it least of all, and every refusal says why and leaves erased output.
 */

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "provider/observe/stats.h"
#include "provider/process.h"
#include "provider/provctx.h"
#include "provider/rand/random_bytes.h"
#include "tests/provider/evp.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fake_aes.h"
#include "tests/unit/unit.h"

enum { TAKEN_BEFORE = 0xaa, OUT_LEN = 48 };

static OSSL_LIB_CTX *libctx;
static OSSL_PROVIDER *provider;

/* Linked with --wrap: the CPU can run the fake, too, or it alone, and prefers it. */
static bool only_fake;

size_t __wrap_drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS]);
size_t __wrap_drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS])
{
    size_t count = 0;
    (void)cpu;
    all[count] = &drng_aes_portable;
    count += only_fake ? 0 : 1;
    all[count++] = &fake_aes;
    return count;
}

/* A process of good health on a CPU that has everything. */
static void open_healthy(void)
{
    scripted_reset(scripted_good, scripted_good);
    CU_ASSERT_TRUE_FATAL(drng_process_open(NULL));
    drng_process.machine.evidence = (struct drng_evidence){.cpu = scripted_cpu};
    libctx = evp_context("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    provider = OSSL_PROVIDER_load(libctx, "drng");
    CU_ASSERT_PTR_NOT_NULL_FATAL(provider);
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 1);
}

static void close_all(void)
{
    OSSL_PROVIDER_unload(provider);
    OSSL_LIB_CTX_free(libctx);
    atomic_store(&drng_failed_algorithm, NULL); /* for the next test */
    drng_process_close();
}

/* Runs the self-test on an AES that answers as the script says, and is good again then. */
static int self_test_with(struct fake_aes_script script)
{
    fake_aes_script = script;
    const int passed = OSSL_PROVIDER_self_test(provider);
    fake_aes_script = (struct fake_aes_script){0};
    return passed;
}

static void fail(void)
{
    CU_ASSERT_EQUAL(self_test_with((struct fake_aes_script){.cbc_flips_key_len = 16}), 0);
    CU_ASSERT_TRUE(evp_error("self-test failed", "AES"));
}

static bool refused(int done, const unsigned char *out, size_t len)
{
    const bool says_why = evp_error("self-test failed", NULL);
    return done != 1 && says_why && bytes_are(out, len, 0);
}

static bool generate_is_refused(EVP_RAND_CTX *rand)
{
    unsigned char out[OUT_LEN];
    memset(out, TAKEN_BEFORE, sizeof(out));
    return refused(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), out, sizeof(out));
}

static bool draws(EVP_RAND_CTX *rand)
{
    unsigned char out[OUT_LEN];
    return EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0) == 1;
}

/* ---- What is seen of it ---- */

static int status(void)
{
    int value = -1;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_PROV_PARAM_STATUS, &value), OSSL_PARAM_construct_end()};
    CU_ASSERT_EQUAL(OSSL_PROVIDER_get_params(provider, params), 1);
    return value;
}

UNIT_TEST("the status is 0")
{
    open_healthy();
    CU_ASSERT_EQUAL(status(), 1);
    fail();
    CU_ASSERT_EQUAL(status(), 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "none");
    close_all();
}

/* In either slot, with any key size, and in the first or the last byte of what it writes. */
UNIT_TEST("any wrong answer fails it")
{
    static const size_t key_lens[] = {16, 24, 32};
    for (unsigned i = 0; i < 12; i++) {
        const size_t key_len = key_lens[i % 3];
        open_healthy();
        CU_ASSERT_EQUAL(self_test_with((struct fake_aes_script){.ctr_flips_key_len = i < 6 ? key_len : 0,
                                                                .cbc_flips_key_len = i < 6 ? 0 : key_len,
                                                                .flips_last = i / 3 % 2 == 1}),
                        0);
        CU_ASSERT_TRUE(evp_error("self-test failed", NULL));
        CU_ASSERT_EQUAL(status(), 0);
        close_all();
    }
}

UNIT_TEST("a failure is for good")
{
    open_healthy();
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    fail();
    /* AES is right again, and is not asked. */
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 0);
    CU_ASSERT_TRUE(generate_is_refused(rand));
    EVP_RAND_CTX_free(rand);
    close_all();
}

UNIT_TEST("no other context loads it")
{
    open_healthy();
    fail();
    OSSL_LIB_CTX *other = OSSL_LIB_CTX_new();
    CU_ASSERT_TRUE(evp_make_loadable(other));
    CU_ASSERT_PTR_NULL(OSSL_PROVIDER_load(other, "drng"));
    /* A provider that does not load has no reasons to be looked up, so the data alone has to tell. */
    CU_ASSERT_TRUE(evp_error(NULL, "AES gave a wrong answer: the CPU or the module is broken"));
    OSSL_LIB_CTX_free(other);
    close_all();
}

/* ---- The ciphers that are tested when they are first used ---- */

static bool fake_served;

/* Draws with this cipher, as the first in a process that has tested AES-256, and answers as the script says since. */
static bool draws_first(const char *cipher, struct fake_aes_script script)
{
    const char *what = NULL;
    open_healthy();
    drng_process.machine.aes = drng_self_test_choose(&scripted_cpu, &what);
    CU_ASSERT_PTR_EQUAL(drng_process.machine.aes, &fake_aes);
    EVP_RAND_CTX *rand = evp_rand(libctx, "CTR-DRBG", "provider=drng", NULL);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, (char *)cipher, 0),
                                 OSSL_PARAM_construct_end()};
    fake_aes_script = script;
    const bool instantiated = EVP_RAND_instantiate(rand, 0, 0, NULL, 0, params) == 1;
    fake_aes_script.calls = 0;
    const bool drawn = instantiated && draws(rand);
    fake_served = fake_aes_script.calls > 0;
    fake_aes_script = (struct fake_aes_script){0};
    EVP_RAND_CTX_free(rand);
    return drawn;
}

static bool counted(unsigned count, const char *name)
{
    return drng_stats.head->self_tests_failed == count && strcmp(drng_stats.head->self_test_failed, name) == 0 &&
           evp_counter(libctx, "self-tests-failed") == count;
}

UNIT_TEST("one that fails with a cipher is replaced, and counted")
{
    CU_ASSERT_TRUE(draws_first("AES-128-CTR", (struct fake_aes_script){.ctr_flips_key_len = 24}));
    CU_ASSERT_TRUE(counted(0, "") && fake_served);
    close_all();
    CU_ASSERT_TRUE(draws_first("AES-192-CTR", (struct fake_aes_script){.ctr_flips_key_len = 24}));
    CU_ASSERT_TRUE(counted(1, "fake") && !fake_served);
    CU_ASSERT_EQUAL(status(), 1);
    close_all();
}

UNIT_TEST("where all fail with a cipher nothing serves any more")
{
    const char *what = NULL;
    only_fake = true;
    CU_ASSERT_FALSE(draws_first("AES-192-CTR", (struct fake_aes_script){.ctr_flips_key_len = 24}));
    CU_ASSERT_TRUE(evp_error("self-test failed", NULL));
    CU_ASSERT_TRUE(counted(1, "fake"));
    CU_ASSERT_EQUAL(status(), 0);
    CU_ASSERT_EQUAL(drng_stats.head->healthy, 0);
    only_fake = false;
    close_all();
    CU_ASSERT_PTR_NOT_NULL(drng_self_test_choose(&scripted_cpu, &what));
}

/* ---- Contexts made before ---- */

static void what_served_before_refuses(const char *name)
{
    open_healthy();
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, name, "provider=drng", NULL);
    CU_ASSERT_TRUE(draws(rand));
    const uint64_t rdseed = scripted_rdseed.executions;
    const uint64_t rdrand = scripted_rdrand.executions;
    fail();
    CU_ASSERT_TRUE(generate_is_refused(rand));
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(evp_error("self-test failed", NULL));
    /* Nor does it begin anew. */
    CU_ASSERT_EQUAL(EVP_RAND_uninstantiate(rand), 1);
    (void)EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL);
    ERR_clear_error();
    CU_ASSERT_TRUE(generate_is_refused(rand));
    CU_ASSERT_EQUAL(scripted_rdseed.executions, rdseed);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, rdrand);
    EVP_RAND_CTX_free(rand);
    close_all();
}

UNIT_TEST("CTR-DRBG refuses")
{
    what_served_before_refuses("CTR-DRBG");
}

UNIT_TEST("DRNG-SEED refuses")
{
    what_served_before_refuses("DRNG-SEED");
}

UNIT_TEST("RDRAND refuses")
{
    what_served_before_refuses("RDRAND");
}

/* Each as the parent of a child that was seeded while all was well, and of one that was not: get_seed is refused. */
UNIT_TEST("parents refuse")
{
    static const char *const names[] = {"CTR-DRBG", "DRNG-SEED", "RDRAND"};
    char digest[] = "SHA512";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_DIGEST, digest, 0),
                                 OSSL_PARAM_construct_end()};
    for (unsigned i = 0; i < 3; i++) {
        open_healthy();
        /* libcrypto's own, so that it is not the child that refuses. */
        EVP_RAND_CTX *parent = evp_rand_ready(libctx, names[i], "provider=drng", NULL);
        CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(parent), 1);
        EVP_RAND_CTX *seeded = evp_rand(libctx, "HASH-DRBG", "provider=default", parent);
        EVP_RAND_CTX *unseeded = evp_rand(libctx, "HASH-DRBG", "provider=default", parent);
        CU_ASSERT_EQUAL(EVP_RAND_instantiate(seeded, 0, 0, NULL, 0, params), 1);
        CU_ASSERT_TRUE(draws(seeded));
        fail();
        CU_ASSERT_NOT_EQUAL(EVP_RAND_reseed(seeded, 1, NULL, 0, NULL, 0), 1);
        CU_ASSERT_TRUE(evp_error("self-test failed", NULL));
        CU_ASSERT_NOT_EQUAL(EVP_RAND_instantiate(unseeded, 0, 0, NULL, 0, params), 1);
        CU_ASSERT_TRUE(evp_error("self-test failed", NULL));
        EVP_RAND_CTX_free(unseeded);
        EVP_RAND_CTX_free(seeded);
        EVP_RAND_CTX_free(parent);
        close_all();
    }
}

/* ---- Contexts made after ---- */

/* The sources are made and instantiated, lest libcrypto drop them without a word, and serve nothing. */
UNIT_TEST("what is made after refuses")
{
    open_healthy();
    fail();
    EVP_RAND_CTX *drbg = evp_rand(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_NOT_EQUAL(EVP_RAND_instantiate(drbg, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_TRUE(evp_error("self-test failed", NULL));
    CU_ASSERT_TRUE(generate_is_refused(drbg));
    EVP_RAND_CTX *seed = evp_rand_ready(libctx, "DRNG-SEED", "provider=drng", NULL);
    CU_ASSERT_TRUE(generate_is_refused(seed));
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_TRUE(generate_is_refused(rdrand));
    EVP_RAND_CTX_free(rdrand);
    EVP_RAND_CTX_free(seed);
    EVP_RAND_CTX_free(drbg);
    close_all();
}

/* ---- What programs call ---- */

static bool rand_bytes_are_refused(void)
{
    unsigned char out[OUT_LEN];
    memset(out, TAKEN_BEFORE, sizeof(out));
    const bool public_refused = refused(RAND_bytes_ex(libctx, out, sizeof(out), 0), out, sizeof(out));
    memset(out, TAKEN_BEFORE, sizeof(out));
    return public_refused && refused(RAND_priv_bytes_ex(libctx, out, sizeof(out), 0), out, sizeof(out));
}

UNIT_TEST("RAND_bytes() refuses")
{
    unsigned char out[OUT_LEN];
    open_healthy();
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    CU_ASSERT_EQUAL(RAND_priv_bytes_ex(libctx, out, sizeof(out), 0), 1);
    fail();
    CU_ASSERT_TRUE(rand_bytes_are_refused());
    close_all();
}

/* OpenSSL 3.5's way past EVP_RAND. */
UNIT_TEST("random_bytes refuses")
{
    unsigned char out[OUT_LEN];
    open_healthy();
    struct drng_provctx *provctx = OSSL_PROVIDER_get0_provider_ctx(provider);
    CU_ASSERT_EQUAL(drng_random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, out, sizeof(out), 256), 1);
    fail();
    for (int which = OSSL_PROV_RANDOM_PUBLIC; which <= OSSL_PROV_RANDOM_PRIVATE; which++) {
        memset(out, TAKEN_BEFORE, sizeof(out));
        CU_ASSERT_TRUE(refused(drng_random_bytes(provctx, which, out, sizeof(out), 256), out, sizeof(out)));
    }
    close_all();
}

UNIT_MAIN("a failed self-test")
