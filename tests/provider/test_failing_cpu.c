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
#include "tests/unit/unit.h"

/* A process that has seen nothing yet, on this CPU. */
static OSSL_LIB_CTX *on_cpu(scripted_behaviour *rdseed, scripted_behaviour *rdrand, const char *keys)
{
    scripted_reset(rdseed, rdrand);
    drng_process.instructions[DRNG_RDSEED] = (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDSEED]};
    drng_process.instructions[DRNG_RDRAND] = (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDRAND]};
    OSSL_LIB_CTX *libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    return libctx;
}

static int draw(OSSL_LIB_CTX *libctx, unsigned char out[32])
{
    memset(out, 0, 32);
    return RAND_bytes_ex(libctx, out, 32, 0);
}

/* SP 800-90B, 4.3: on demand. What has passed them before is read and tested again, and what fails is disabled. */
static void start_up_tests_run_on_demand(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "");
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
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
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");
    OSSL_PROVIDER_unload(provider);
    OSSL_LIB_CTX_free(libctx);
}

/* As a signal handler that forks in the middle of a seed: RDRAND is dry at first, and the child's attempt has words. */
static bool dry_at_a_fork(struct scripted_instruction *cpu, uint64_t *word)
{
    if (cpu->executions <= DRNG_RDRAND_TRIES) {
        atomic_store(&drng_fork_page->generation, 0);
        return false;
    }
    return scripted_good(cpu, word);
}

static void an_attempt_that_runs_again_leaves_no_error(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_dry, dry_at_a_fork, "fallback = no\n");
    ERR_clear_error();
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seed-failures"), 1);
    CU_ASSERT_EQUAL(ERR_peek_error(), 0);
    OSSL_LIB_CTX_free(libctx);
}

static void rdseed_serves_first(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdseed"), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdrand"), 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"), "");
    OSSL_LIB_CTX_free(libctx);
}

static void rdrand_serves_where_rdseed_starves(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_dry, scripted_good, "");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdrand"), 1);
    CU_ASSERT_TRUE(evp_counter(libctx, "rdseed-retries") > 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"), "");
    OSSL_LIB_CTX_free(libctx);
}

static void a_lying_rdseed_is_disabled_and_said_to_be(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_constant, scripted_good, "");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdrand");
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "disabled-reason"),
                           "RDSEED: disabled after failed health tests, the last the repetition count test");
    CU_ASSERT_EQUAL(evp_counter(libctx, "health-failures"), 2);
    /* For the process: another context of it does not try again. */
    OSSL_LIB_CTX *other = evp_context("");
    const uint64_t executions = scripted_rdseed.executions;
    CU_ASSERT_EQUAL(draw(other, out), 1);
    CU_ASSERT_EQUAL(scripted_rdseed.executions, executions);
    OSSL_LIB_CTX_free(other);
    OSSL_LIB_CTX_free(libctx);
}

/* libcrypto hands out the pointer: whoever asked before still reads what it was told, and another instance the new. */
static void a_reason_that_was_told_does_not_change(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_constant, scripted_good, "");
    OSSL_LIB_CTX *other = evp_context("");
    const char *before = evp_text(libctx, "disabled-reason");
    CU_ASSERT_STRING_EQUAL(before, "");
    CU_ASSERT_STRING_EQUAL(evp_text(other, "disabled-reason"), "");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    const char *after = evp_text(libctx, "disabled-reason");
    CU_ASSERT_STRING_EQUAL(before, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(after, "RDSEED: disabled"));
    CU_ASSERT_PTR_EQUAL(evp_text(libctx, "disabled-reason"), after);
    CU_ASSERT_STRING_EQUAL(evp_text(other, "disabled-reason"), after);
    OSSL_LIB_CTX_free(other);
    OSSL_LIB_CTX_free(libctx);
}

static void the_fallback_serves_where_both_fail(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_dry, scripted_zeros, "");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_FALSE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "fallback");
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-fallback"), 1);
    CU_ASSERT_STRING_EQUAL(evp_server(RAND_get0_public(libctx)), "drng");
    OSSL_LIB_CTX_free(libctx);
}

static void without_a_fallback_nothing_serves(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_ones, scripted_alternating, "fallback = no\n");
    CU_ASSERT_NOT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(
        evp_error("fallback = no", "RDSEED: disabled after failed health tests, the last the stuck value test"));
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "none");
    CU_ASSERT_TRUE(evp_counter(libctx, "seed-failures") > 0);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-fallback"), 0);
    OSSL_LIB_CTX_free(libctx);
}

/* A generator whose seed is worn out gives nothing more, though it could. */
static void a_seed_that_is_due_and_does_not_come_ends_the_output(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "fallback = no\n");
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
    OSSL_LIB_CTX_free(libctx);
}

/* One that has no parent is seeded by another way, and as little. */
static void a_generator_without_a_parent_is_not_served_either(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_dry, scripted_ones, "fallback = no\n");
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
    OSSL_LIB_CTX_free(libctx);
}

static void rdrand_alone_serves_only_where_it_may(void)
{
    unsigned char out[32];
    drng_process.evidence.kernel = (struct drng_kernel_flags){.known = true, .has = {[DRNG_RDSEED] = true}};
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "");
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, 0);
    CU_ASSERT_TRUE(evp_error("RDRAND", "switched off by the kernel"));
    EVP_RAND_CTX_free(rand);
    OSSL_LIB_CTX_free(libctx);
    drng_process.evidence.kernel.has[DRNG_RDRAND] = true;
}

/* A reseed that fails is the end of the output, and of nothing else: what clears up serves again. */
static void a_drought_ends(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "fallback = no\n");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
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
    OSSL_LIB_CTX_free(libctx);
}

static void words_of_a_lying_rdrand_are_not_put_out(void)
{
    unsigned char out[64];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_period_64, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(evp_error("RDRAND gave no usable words", NULL));
    EVP_RAND_CTX_free(rdrand);
    OSSL_LIB_CTX_free(libctx);
}

/* No other source stands in for RDRAND where it is the parent, whatever `fallback` says: the error advises no such key.
 */
static void a_child_of_a_dry_rdrand_is_told_so(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_dry, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", "provider=drng", rdrand);
    ERR_clear_error();
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 0);
    CU_ASSERT_TRUE(evp_error("RDRAND gave no usable words", "use DRNG-SEED or CTR-DRBG"));
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 0);
    ERR_clear_error();
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(rdrand);
    OSSL_LIB_CTX_free(libctx);
}

static void rdrand_refuses_more_strength_than_it_has(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, out, sizeof(out), 256, 0, NULL, 0), 1);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, out, sizeof(out), 257, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(evp_error("more strength asked for", "257 bits where it has 256"));
    EVP_RAND_CTX_free(rdrand);
    OSSL_LIB_CTX_free(libctx);
}

static void rdrand_puts_out_the_words_themselves(void)
{
    unsigned char out[60];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "");
    EVP_RAND_CTX *rdrand = evp_rand_ready(libctx, "RDRAND", "provider=drng", NULL);
    CU_ASSERT_EQUAL(EVP_RAND_generate(rdrand, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(memcmp(out, &scripted_rdrand.log[DRNG_STARTUP_WORDS], sizeof(out)), 0);
    EVP_RAND_CTX_free(rdrand);
    OSSL_LIB_CTX_free(libctx);
}

/* Executions of RDRAND that a request of drng's takes under this parent. */
static uint64_t executions_under(OSSL_LIB_CTX *libctx, EVP_RAND_CTX *parent)
{
    unsigned char out[32];
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", parent);
    const uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    EVP_RAND_CTX_free(rand);
    return scripted_rdrand.executions - before;
}

/* Libcrypto's own DRBG. */
static EVP_RAND_CTX *foreign_drbg(OSSL_LIB_CTX *libctx, EVP_RAND_CTX *parent)
{
    char cipher[] = "AES-256-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    EVP_RAND_CTX *rand = evp_rand(libctx, "CTR-DRBG", "provider=default", parent);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_instantiate(rand, 0, 0, NULL, 0, params), 1);
    return rand;
}

/* Where drng's own source seeds, every request draws RDRAND; under a foreign generator none does. */
static void requests_are_mixed_where_they_should_be(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "request_mixing = yes\n");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, before + 1);

    EVP_RAND_CTX *source = evp_rand_ready(libctx, "SEED-SRC", "provider=default", NULL);
    EVP_RAND_CTX *foreign = foreign_drbg(libctx, source);
    CU_ASSERT_EQUAL(executions_under(libctx, source), 1);
    CU_ASSERT_EQUAL(executions_under(libctx, foreign), 0);
    EVP_RAND_CTX_free(foreign);
    EVP_RAND_CTX_free(source);
    OSSL_LIB_CTX_free(libctx);

    libctx = on_cpu(scripted_good, scripted_good, "request_mixing = no\n");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, before + !drng_fork_kernel_wipes); /* then no key switches it off */
    OSSL_LIB_CTX_free(libctx);
}

/* Executions of RDRAND that a request takes where the key is left at `auto`. */
static uint64_t executions_of_a_request(bool hypervisor)
{
    unsigned char out[32];
    drng_process.evidence.cpu.hypervisor = hypervisor;
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    const uint64_t before = scripted_rdrand.executions;
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    OSSL_LIB_CTX_free(libctx);
    return scripted_rdrand.executions - before;
}

static void a_hypervisor_switches_request_mixing_on(void)
{
    CU_ASSERT_EQUAL(executions_of_a_request(true), 1);
    CU_ASSERT_EQUAL(executions_of_a_request(false), !drng_fork_kernel_wipes);
}

/* The kernel's generator is not ready, the hardware is: a seed at once, and nobody waits. */
static void early_boot_needs_no_kernel(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "fallback = no\n");
    scripted_os_ready = false;
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_TRUE(scripted_os_calls > 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "rdseed");
    OSSL_LIB_CTX_free(libctx);
}

static void hmac_conditions_too(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_dry, scripted_good, "conditioner = hmac-sha256\n");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "seeds-rdrand"), 1);
    OSSL_LIB_CTX_free(libctx);
}

static void os_mixing_can_be_switched_off(void)
{
    unsigned char out[32];
    OSSL_LIB_CTX *libctx = on_cpu(scripted_good, scripted_good, "os_mixing = no\nrequest_mixing = no\n");
    CU_ASSERT_EQUAL(draw(libctx, out), 1);
    CU_ASSERT_EQUAL(scripted_os_calls, 0);
    OSSL_LIB_CTX_free(libctx);
}

static const struct unit_test tests[] = {
    {"start-up tests run on demand", start_up_tests_run_on_demand},
    {"an attempt that runs again leaves no error", an_attempt_that_runs_again_leaves_no_error},
    {"RDSEED serves first", rdseed_serves_first},
    {"RDRAND serves where RDSEED starves", rdrand_serves_where_rdseed_starves},
    {"a lying RDSEED is disabled and said to be", a_lying_rdseed_is_disabled_and_said_to_be},
    {"a reason that was told does not change", a_reason_that_was_told_does_not_change},
    {"the fallback serves where both fail", the_fallback_serves_where_both_fail},
    {"without a fallback nothing serves", without_a_fallback_nothing_serves},
    {"a seed that is due and does not come ends the output", a_seed_that_is_due_and_does_not_come_ends_the_output},
    {"RDRAND alone serves only where it may", rdrand_alone_serves_only_where_it_may},
    {"a generator without a parent is not served either", a_generator_without_a_parent_is_not_served_either},
    {"a drought ends", a_drought_ends},
    {"words of a lying RDRAND are not put out", words_of_a_lying_rdrand_are_not_put_out},
    {"RDRAND puts out the words themselves", rdrand_puts_out_the_words_themselves},
    {"a child of a dry RDRAND is told so", a_child_of_a_dry_rdrand_is_told_so},
    {"RDRAND refuses more strength than it has", rdrand_refuses_more_strength_than_it_has},
    {"requests are mixed where they should be", requests_are_mixed_where_they_should_be},
    {"a hypervisor switches request mixing on", a_hypervisor_switches_request_mixing_on},
    {"early boot needs no kernel", early_boot_needs_no_kernel},
    {"HMAC conditions too", hmac_conditions_too},
    {"OS mixing can be switched off", os_mixing_can_be_switched_off},
};

int main(void)
{
    return unmask_instructions() ? unit_run("a failing CPU", tests, sizeof(tests) / sizeof(*tests)) : 1;
}
