/* SPDX-License-Identifier: Apache-2.0 */
/* What libcrypto's callers see of a CPU that starves, lies or has nothing: the provider on the scripted CPU. */

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rand.h>

#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

static OSSL_LIB_CTX *libctx; /* of the case that runs */
static unsigned char out[32];

/* A process that has seen nothing yet, on this CPU. */
static void on_cpu(scripted_behaviour *rdseed, scripted_behaviour *rdrand, const char *keys)
{
    OSSL_LIB_CTX_free(libctx);
    scripted_reset(rdseed, rdrand);
    if (drng_family != NULL) {
        memset(drng_family->instructions, 0, sizeof(drng_family->instructions));
    }
    drng_process.machine.instructions[DRNG_RDSEED] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDSEED]};
    drng_process.machine.instructions[DRNG_RDRAND] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDRAND]};
    libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
}

static int draw(OSSL_LIB_CTX *from)
{
    memset(out, 0, sizeof(out));
    return RAND_bytes_ex(from, out, sizeof(out), 0);
}

/* SP 800-90B, 4.3: on demand. What has passed them before is read and tested again, and what fails is disabled. */
UNIT_TEST("start-up tests run on demand")
{
    on_cpu(scripted_good, scripted_good, "");
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    for (unsigned time = 1; time <= 2; time++) {
        const uint64_t before[] = {scripted_rdseed.words, scripted_rdrand.words};
        CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 1);
        CU_ASSERT_EQUAL(scripted_rdseed.words, before[0] + DRNG_STARTUP_WORDS);
        CU_ASSERT_EQUAL(scripted_rdrand.words, before[1] + DRNG_STARTUP_WORDS);
    }
    CU_ASSERT_TRUE(evp_counter(libctx, "last-self-test") > 0);

    /* Too few words are no failure. */
    scripted_rdseed.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seed-failures"), 0);

    scripted_rdseed.behaviour = scripted_constant;
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 0);
    CU_ASSERT_TRUE(evp_error("failed its start-up tests", "RDSEED: disabled"));
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");

    /* What is disabled does not pass by being left out. */
    scripted_rdseed.behaviour = scripted_good;
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 0);
    CU_ASSERT_TRUE(evp_error("failed its start-up tests", "RDSEED: disabled"));
    OSSL_PROVIDER_unload(provider);
}

static int draw_with_a_lying_rdseed(void *from)
{
    scripted_rdseed.behaviour = scripted_constant;
    return draw(from) == 1 && strcmp(evp_text(from, "active-source"), "rdrand") == 0 &&
                   evp_counter(from, "health-failures") == 2
               ? 0
               : 1;
}

/* Each child for itself: what one has found disables nothing in its parent, and is counted there when it has ended. */
UNIT_TEST("a verdict outlives the child that found it")
{
    on_cpu(scripted_good, scripted_good, "");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    for (unsigned child = 1; child <= 3; child++) {
        CU_ASSERT_EQUAL(child_forked(draw_with_a_lying_rdseed, libctx), 0);
        CU_ASSERT_EQUAL(evp_counter(libctx, "rdseed-family-failures"), 2 * child);
        CU_ASSERT_EQUAL(evp_counter(libctx, "rdseed-family-disabled"), child);
        CU_ASSERT_EQUAL(evp_counter(libctx, "rdrand-family-failures"), 0);
        CU_ASSERT_EQUAL(evp_counter(libctx, "health-failures"), 0);
    }
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"), "");
}

static bool gives_a_seed(EVP_RAND_CTX *rand)
{
    return EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0) == 1;
}

/* What the generators of this process have passed says nothing of the words that a new context is given. */
UNIT_TEST("each context of the seed source is tested by its own words")
{
    static const struct {
        scripted_behaviour *behaviour;
        unsigned which;
    } late[] = {{scripted_counting_on, 0}, {scripted_period, 64}, {scripted_period, 100}, {scripted_bits_stuck, 1}};
    for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++) {
        on_cpu(scripted_good, scripted_good, "");
        CU_ASSERT_EQUAL(draw(libctx), 1);
        for (unsigned n = 0; n < 10; n++) {
            const uint64_t before = scripted_rdseed.words;
            EVP_RAND_CTX *good = evp_rand_ready(libctx, "DRNG-SEED", "provider=drng", NULL);
            CU_ASSERT_TRUE(gives_a_seed(good));
            CU_ASSERT_EQUAL(scripted_rdseed.words - before, DRNG_STARTUP_WORDS + 2 + 2 * DRNG_RDSEED_WORDS);
            EVP_RAND_CTX_free(good);
        }
        CU_ASSERT_EQUAL(evp_counter(libctx, "health-failures"), 0);
        scripted_rdseed.behaviour = late[i].behaviour;
        scripted_rdseed.which = late[i].which;
        EVP_RAND_CTX *fresh = evp_rand_ready(libctx, "DRNG-SEED", "provider=drng", NULL);
        CU_ASSERT_TRUE(gives_a_seed(fresh));
        CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");
        CU_ASSERT_EQUAL(evp_counter(libctx, "health-failures"), 2);
        EVP_RAND_CTX_free(fresh);
    }
}

/* As a signal handler that forks in the middle of a seed: RDRAND is dry at first, and the child's attempt has words. */
static bool dry_at_a_fork(struct scripted_instruction *cpu, uint64_t *word)
{
    if (cpu->executions <= DRNG_RDRAND_TRIES) {
        atomic_store(&drng_fork_page->generation, 0);
        atomic_store(&drng_fork_page->epoch, 0);
        return false;
    }
    return scripted_good(cpu, word);
}

UNIT_TEST("an attempt that runs again leaves no error")
{
    on_cpu(scripted_dry, dry_at_a_fork, "fallback = no\n");
    ERR_clear_error();
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seed-failures"), 1);
    CU_ASSERT_EQUAL(ERR_peek_error(), 0);
}

/* Without a property query, and with another provider that has libcrypto's names. */
UNIT_TEST("the exclusive names are nobody else's")
{
    static const char *const names[][2] = {{"DRNG-SEED", "SEED-SRC"}, {"DRNG-CTR-DRBG", "CTR-DRBG"}};
    on_cpu(scripted_good, scripted_good, "");
    OSSL_PROVIDER *others = OSSL_PROVIDER_load(libctx, "default");
    for (size_t i = 0; i < 2; i++) {
        EVP_RAND *rand = EVP_RAND_fetch(libctx, names[i][0], NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
        CU_ASSERT_STRING_EQUAL(OSSL_PROVIDER_get0_name(EVP_RAND_get0_provider(rand)), "drng");
        CU_ASSERT_FALSE(EVP_RAND_is_a(rand, names[i][1]));
        EVP_RAND_free(rand);
        rand = EVP_RAND_fetch(libctx, names[i][1], "provider=drng");
        CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
        EVP_RAND_free(rand);
    }
    OSSL_PROVIDER_unload(others);
}

static bool last_results_are(const char *rdseed, const char *rdrand)
{
    return strcmp(evp_text(libctx, "rdseed-last-result"), rdseed) == 0 &&
           strcmp(evp_text(libctx, "rdrand-last-result"), rdrand) == 0;
}

static bool reseed(void)
{
    return EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0) == 1;
}

UNIT_TEST("what became of each instruction is told")
{
    on_cpu(scripted_dry, scripted_good, "");
    CU_ASSERT_TRUE(last_results_are("not asked", "not asked"));
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_TRUE(last_results_are("dry", "served"));
    CU_ASSERT_EQUAL(evp_counter(libctx, "rdrand-last-words"), DRNG_STARTUP_WORDS + 2 + 3 * DRNG_RDRAND_WORDS);
    scripted_rdrand.ns = 50000;
    CU_ASSERT_TRUE(reseed());
    CU_ASSERT_TRUE(last_results_are("dry", "too slow"));
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "fallback");
    CU_ASSERT_TRUE(evp_counter(libctx, "rdrand-last-words") > 0);
    CU_ASSERT_EQUAL(evp_counter(libctx, "rdrand-family-slow"), 1);
    scripted_rdrand.behaviour = scripted_zeros;
    scripted_rdrand.ns = 20;
    scripted_clock_ns += DRNG_SLOW_SECONDS * UINT64_C(1000000000);
    CU_ASSERT_TRUE(reseed());
    CU_ASSERT_TRUE(last_results_are("dry", "health test failed"));
    CU_ASSERT_TRUE(reseed());
    CU_ASSERT_TRUE(last_results_are("dry", "disabled"));
    on_cpu(scripted_good, scripted_good, "source = rdrand");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_TRUE(last_results_are("not chosen by the source key", "served"));
}

/* The error tells the two apart. */
UNIT_TEST("an error says whether an instruction was slow or gave nothing")
{
    on_cpu(scripted_dry, scripted_good, "fallback = no\n");
    scripted_rdrand.ns = 50000;
    ERR_clear_error();
    CU_ASSERT_EQUAL(draw(libctx), 0);
    CU_ASSERT_TRUE(evp_error("no instruction can seed", "RDSEED: no word in its time, the next request tries again; "
                                                        "RDRAND: too few words in its time"));
}

UNIT_TEST("seeds without the kernel's bytes are counted")
{
    on_cpu(scripted_good, scripted_good, "");
    scripted_os_ready = true;
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-without-kernel-bytes"), 0);
    scripted_os_ready = false;
    CU_ASSERT_TRUE(reseed());
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-without-kernel-bytes"), 1);
    on_cpu(scripted_good, scripted_good, "os_mixing = no\n");
    scripted_os_ready = false;
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-without-kernel-bytes"), 0);
    scripted_os_ready = true;
}

UNIT_TEST("a seed has as many words of RDSEED as the section says")
{
    on_cpu(scripted_good, scripted_good, "rdseed_words = 780\n");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "rdseed-last-words"), DRNG_STARTUP_WORDS + 2 + 3 * 780);
}

UNIT_TEST("RDSEED serves first")
{
    on_cpu(scripted_good, scripted_good, "");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdseed"), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdrand"), 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"), "");
}

UNIT_TEST("RDRAND serves where RDSEED starves")
{
    on_cpu(scripted_dry, scripted_good, "");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdrand"), 1);
    CU_ASSERT_TRUE(evp_counter(libctx, "rdseed-retries") > 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"), "");
}

UNIT_TEST("a lying RDSEED is disabled and said to be")
{
    on_cpu(scripted_constant, scripted_good, "");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"),
                           "RDSEED: disabled after failed health tests, the last the repetition count test");
    CU_ASSERT_EQUAL(evp_counter(libctx, "health-failures"), 2);
    /* For the process: another context of it does not try again. */
    OSSL_LIB_CTX *other = evp_context("");
    const uint64_t executions = scripted_rdseed.executions;
    CU_ASSERT_EQUAL(draw(other), 1);
    CU_ASSERT_EQUAL(scripted_rdseed.executions, executions);
    OSSL_LIB_CTX_free(other);
}

/* libcrypto hands out the pointer: whoever asked before still reads what it was told, and another instance the new. */
UNIT_TEST("a reason that was told does not change")
{
    on_cpu(scripted_constant, scripted_good, "");
    OSSL_LIB_CTX *other = evp_context("");
    const char *before = evp_text(libctx, "disabled-reason");
    CU_ASSERT_STRING_EQUAL(before, "");
    CU_ASSERT_STRING_EQUAL(evp_text(other, "disabled-reason"), "");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    const char *after = evp_text(libctx, "disabled-reason");
    CU_ASSERT_STRING_EQUAL(before, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(after, "RDSEED: disabled"));
    CU_ASSERT_PTR_EQUAL(evp_text(libctx, "disabled-reason"), after);
    CU_ASSERT_STRING_EQUAL(evp_text(other, "disabled-reason"), after);
    OSSL_LIB_CTX_free(other);
}

UNIT_TEST("the fallback serves where both fail")
{
    on_cpu(scripted_dry, scripted_zeros, "");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_FALSE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "fallback");
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-fallback"), 1);
    CU_ASSERT_STRING_EQUAL(evp_server(RAND_get0_public(libctx)), "drng");
}

UNIT_TEST("without a fallback nothing serves")
{
    on_cpu(scripted_ones, scripted_alternating, "fallback = no\n");
    CU_ASSERT_NOT_EQUAL(draw(libctx), 1);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(
        evp_error("fallback = no", "RDSEED: disabled after failed health tests, the last the stuck value test"));
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "none");
    CU_ASSERT_TRUE(evp_counter(libctx, "seed-failures") > 0);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-fallback"), 0);
}

/* A generator whose seed is worn out gives nothing more, though it could. */
UNIT_TEST("a seed that is due and does not come ends the output")
{
    on_cpu(scripted_good, scripted_good, "fallback = no\n");
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
    CU_ASSERT_TRUE(evp_set_uint(rand, OSSL_DRBG_PARAM_RESEED_REQUESTS, 1));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    scripted_rdseed.behaviour = scripted_dry;
    scripted_rdrand.behaviour = scripted_dry;
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(evp_error("fallback = no", NULL));
    EVP_RAND_CTX_free(rand);
}

/* One that has no parent is seeded by another way, and as little. */
UNIT_TEST("a generator without a parent is not served either")
{
    on_cpu(scripted_dry, scripted_ones, "fallback = no\n");
    EVP_RAND_CTX *rand = evp_rand(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_NOT_EQUAL(EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_TRUE(
        evp_error("fallback = no", "RDRAND: disabled after failed health tests, the last the stuck value test"));
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_NOT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(evp_counter(libctx, "seed-failures"), 2);
    ERR_clear_error();
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("RDRAND alone serves only where it may")
{
    drng_process.machine.evidence.masked[DRNG_RDRAND] = true;
    on_cpu(scripted_good, scripted_good, "");
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(evp_error("RDRAND", "masked"));
    EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", "provider=drng", rand);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 0);
    CU_ASSERT_TRUE(evp_error("RDRAND", "masked"));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(rand);
    drng_process.machine.evidence.masked[DRNG_RDRAND] = false;
}

/* A reseed that fails is the end of the output, and of nothing else: what clears up serves again. */
UNIT_TEST("a drought ends")
{
    on_cpu(scripted_good, scripted_good, "fallback = no\n");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    EVP_RAND_CTX *primary = RAND_get0_primary(libctx);
    scripted_rdseed.behaviour = scripted_dry;
    scripted_rdrand.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(EVP_RAND_reseed(primary, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(evp_error("fallback = no", "the next request tries again"));
    CU_ASSERT_EQUAL(EVP_RAND_get_state(primary), EVP_RAND_STATE_ERROR);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(primary, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    scripted_rdrand.behaviour = scripted_good;
    CU_ASSERT_EQUAL(EVP_RAND_generate(primary, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");
    ERR_clear_error();
}

UNIT_TEST("words of a lying RDRAND are not put out")
{
    on_cpu(scripted_good, scripted_period_64, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(evp_error("RDRAND gave no usable words", NULL));
    EVP_RAND_CTX_free(rdrand);
}

/* No other source stands in for RDRAND where it is the parent, whatever `fallback` says: the error advises no such key.
 */
UNIT_TEST("a child of a dry RDRAND is told so")
{
    on_cpu(scripted_good, scripted_dry, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    OSSL_LIB_CTX *of_child[] = {libctx, evp_context("")}; /* another one's is told the same */
    for (size_t i = 0; i < 2; i++) {
        EVP_RAND_CTX *child = evp_rand(of_child[i], "CTR-DRBG", "provider=drng", rdrand);
        ERR_clear_error();
        CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 0);
        CU_ASSERT_TRUE(evp_error("RDRAND gave no usable words", "use DRNG-SEED or CTR-DRBG"));
        CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 0);
        ERR_clear_error();
        EVP_RAND_CTX_free(child);
    }
    EVP_RAND_CTX_free(rdrand);
    OSSL_LIB_CTX_free(of_child[1]);
}

UNIT_TEST("RDRAND refuses more strength than it has")
{
    on_cpu(scripted_good, scripted_good, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, out, sizeof(out), 256, 0, NULL, 0), 1);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, out, sizeof(out), 257, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(evp_error("more strength asked for", "257 bits where it has 256"));
    EVP_RAND_CTX_free(rdrand);
}

UNIT_TEST("RDRAND puts out the words themselves")
{
    unsigned char words[60];
    on_cpu(scripted_good, scripted_good, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, words, sizeof(words), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(memcmp(words, &scripted_rdrand.log[DRNG_STARTUP_WORDS], sizeof(words)), 0);
    EVP_RAND_CTX_free(rdrand);
}

/* Executions of RDRAND that a request of drng's takes under this parent. */
static uint64_t executions_under(EVP_RAND_CTX *parent)
{
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
    const uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    EVP_RAND_CTX_free(rand);
    return scripted_rdrand.executions - before;
}

/* Libcrypto's own DRBG. */
static EVP_RAND_CTX *foreign_drbg(EVP_RAND_CTX *parent)
{
    char cipher[] = "AES-256-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    EVP_RAND_CTX *rand = evp_rand(libctx, "CTR-DRBG", "provider=default", parent);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_instantiate(rand, 0, 0, NULL, 0, params), 1);
    return rand;
}

/* Where drng's own source seeds, every request draws RDRAND; under a foreign generator none does. */
UNIT_TEST("requests are mixed where they should be")
{
    on_cpu(scripted_good, scripted_good, "request_mixing = yes\n");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, before + 1);

    EVP_RAND_CTX *source = evp_rand_ready(libctx, "SEED-SRC", "provider=default", NULL);
    EVP_RAND_CTX *foreign = foreign_drbg(source);
    CU_ASSERT_EQUAL(executions_under(source), 1);
    CU_ASSERT_EQUAL(executions_under(foreign), 0);
    EVP_RAND_CTX_free(foreign);
    EVP_RAND_CTX_free(source);

    on_cpu(scripted_good, scripted_good, "request_mixing = no\n");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, before + !drng_fork_kernel_wipes); /* then no key switches it off */
}

/* Executions of RDRAND that a request takes where the key is left at `auto`. */
static uint64_t executions_of_a_request(bool hypervisor)
{
    drng_process.machine.evidence.cpu.hypervisor = hypervisor;
    on_cpu(scripted_good, scripted_good, "");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    const uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(draw(libctx), 1);
    return scripted_rdrand.executions - before;
}

UNIT_TEST("a hypervisor switches request mixing on")
{
    CU_ASSERT_EQUAL(executions_of_a_request(true), 1);
    CU_ASSERT_EQUAL(executions_of_a_request(false), !drng_fork_kernel_wipes);
}

/* The kernel's generator is not ready, the hardware is: a seed at once, and nobody waits. */
UNIT_TEST("early boot needs no kernel")
{
    on_cpu(scripted_good, scripted_good, "fallback = no\n");
    scripted_os_ready = false;
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_TRUE(scripted_os_calls > 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
}

UNIT_TEST("HMAC conditions too")
{
    on_cpu(scripted_dry, scripted_good, "conditioner = hmac-sha256\n");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdrand"), 1);
}

UNIT_TEST("OS mixing can be switched off")
{
    on_cpu(scripted_good, scripted_good, "os_mixing = no\nrequest_mixing = no\n");
    CU_ASSERT_EQUAL(draw(libctx), 1);
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
}

int main(void)
{
    const int result = unmask_instructions() ? unit_run("a failing CPU") : 1;
    OSSL_LIB_CTX_free(libctx);
    return result;
}
