/* SPDX-License-Identifier: Apache-2.0 */
/* The provider's interface to libcrypto: OSSL_provider_init() and the functions of provider-base(7). */

#include <pthread.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/e_os2.h>
#include <openssl/params.h>

#include "mixing/state/fork.h"
#include "provider/errors.h"
#include "provider/observe/report.h"
#include "provider/params.h"
#include "provider/process.h"
#include "provider/provctx.h"
#include "provider/rand/drbg.h"
#include "provider/rand/instruction_rand.h"
#include "provider/rand/random_bytes.h"
#include "provider/version.h"

/* ---- Parameters: OSSL_PROVIDER_get_params(3) ---- */

static uint64_t value_of(atomic_uint_least64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* The source of the last seed, or before the first seed the one that would be asked first; "none" after a failure. */
static const char *active_source(const struct drng_provctx *provctx)
{
    static const char *const names[DRNG_SOURCES] = {"none", DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_FLAG) "fallback"};
    struct drng_counters *counters = &drng_stats.live->counters;
    uint64_t source = value_of(&counters->source);
    if (source == DRNG_SOURCE_NONE && value_of(&counters->seed_failures) == 0) {
        source = drng_report_first_in_line(provctx);
    }
    return drng_process_healthy() ? names[source] : "none";
}

/*
 * Each row is a NUMBER or a TEXT, with what is known of the parameter, and its value. These are the rows of an
 * instruction, and of a counter.
 */
#define SEEDS(id, flag)   NUMBER(OSSL_PARAM_uint64("seeds-" flag, NULL), value_of(&c->seeds[id]))
#define RETRIES(id, flag) NUMBER(OSSL_PARAM_uint64(flag "-retries", NULL), value_of(&c->instructions[id].retries))
#define LASTS(id, flag)                                                                                                \
    TEXT(OSSL_PARAM_utf8_ptr(flag "-last-result", NULL, 0), drng_report_last_result(provctx, id))                      \
    NUMBER(OSSL_PARAM_uint64(flag "-last-words", NULL), value_of(&c->instructions[id].last_words))
#define FAMILY(id, flag)                                                                                               \
    NUMBER(OSSL_PARAM_uint64(flag "-family-failures", NULL), value_of(&drng_family->instructions[id].failures))        \
    NUMBER(OSSL_PARAM_uint64(flag "-family-disabled", NULL), value_of(&drng_family->instructions[id].disabled))        \
    NUMBER(OSSL_PARAM_uint64(flag "-family-slow", NULL), value_of(&drng_family->instructions[id].slow))
#define COUNTER(member, name) NUMBER(OSSL_PARAM_uint64(name, NULL), value_of(&c->member))

#define PARAMETERS                                                                                                     \
    TEXT(OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0), DRNG_NAME)                                                \
    TEXT(OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0), DRNG_VERSION)                                          \
    TEXT(OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, NULL, 0), DRNG_BUILDINFO)                                      \
    NUMBER(OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL), drng_process_healthy())                                       \
    TEXT(OSSL_PARAM_utf8_ptr("aes-implementation", NULL, 0), drng_process.machine.aes->name)                           \
    TEXT(OSSL_PARAM_utf8_ptr("active-source", NULL, 0), active_source(provctx))                                        \
    TEXT(OSSL_PARAM_utf8_ptr("disabled-reason", NULL, 0), drng_report_disabled_reason(provctx))                        \
    TEXT(OSSL_PARAM_utf8_ptr("clone-protection", NULL, 0),                                                             \
         drng_clone_protections[drng_report_clones(provctx, &reason)])                                                 \
    DRNG_EACH_INSTRUCTION(SEEDS)                                                                                       \
    DRNG_SEED_COUNTERS(COUNTER)                                                                                        \
    NUMBER(OSSL_PARAM_uint64("health-failures", NULL), health_failures)                                                \
    DRNG_EACH_INSTRUCTION(RETRIES)                                                                                     \
    DRNG_OTHER_COUNTERS(COUNTER)                                                                                       \
    NUMBER(OSSL_PARAM_uint64("forks", NULL), value_of(&drng_stats.head->forks))                                        \
    NUMBER(OSSL_PARAM_uint64("last-self-test", NULL), value_of(&drng_stats.head->tested))                              \
    DRNG_EACH_INSTRUCTION(LASTS)                                                                                       \
    DRNG_EACH_INSTRUCTION(FAMILY)                                                                                      \
    NUMBER(OSSL_PARAM_uint64("self-tests-failed", NULL), drng_self_test_failed_count())                                \
    TEXT(OSSL_PARAM_utf8_ptr("self-test-failed", NULL, 0), drng_self_test_failed_name())                               \
    NUMBER(OSSL_PARAM_uint64("requests", NULL), served.requests)                                                       \
    NUMBER(OSSL_PARAM_uint64("bytes", NULL), served.bytes)

#define NUMBER DRNG_KNOWN
#define TEXT   DRNG_KNOWN
static const OSSL_PARAM *gettable_params(ossl_unused void *provctx)
{
    static const OSSL_PARAM known[] = {PARAMETERS OSSL_PARAM_END};
    return known;
}
#undef NUMBER
#undef TEXT

#define NUMBER DRNG_NUMBER
#define TEXT   DRNG_TEXT
static int get_params(void *vprovctx, OSSL_PARAM params[])
{
    struct drng_provctx *provctx = vprovctx;
    struct drng_counters *c = &drng_stats.live->counters;
    (void)drng_fork_generation(); /* in a child the counters start from zero */
    const struct drng_requests served = drng_stats_requests();
    const char *reason = NULL;
    uint64_t health_failures = 0;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        health_failures += value_of(&c->instructions[i].health_failures);
    }
    const struct drng_answer answers[] = {PARAMETERS};
    return drng_params_answer(params, answers, sizeof(answers) / sizeof(*answers));
}

/* ---- Algorithms, and the rest ---- */

#define PROPERTY "provider=drng"

static const OSSL_ALGORITHM rands[] = {
    {"CTR-DRBG", PROPERTY, drng_drbg_functions, "SP 800-90A CTR_DRBG with AES"},
    {"DRNG-CTR-DRBG", PROPERTY, drng_drbg_functions, "SP 800-90A CTR_DRBG with AES"},
    {"SEED-SRC", PROPERTY, drng_seed_src_functions, "the CPU's instructions, tested and conditioned"},
    {"DRNG-SEED", PROPERTY, drng_seed_src_functions, "the CPU's instructions, tested and conditioned"},
    {DRNG_HAS_GENERATOR ? DRNG_WORDS_NAME : NULL, PROPERTY, drng_rdrand_functions,
     "words of the CPU's own generator, tested"},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query_operation(ossl_unused void *provctx, int operation, int *no_cache)
{
    *no_cache = 0;
    return operation == OSSL_OP_RAND ? rands : NULL;
}

static const OSSL_ITEM *get_reason_strings(ossl_unused void *provctx)
{
    return drng_reason_strings;
}

/* OSSL_PROVIDER_self_test(): runs every known-answer test again, and the start-up tests of the instructions. */
static int self_test(void *vprovctx)
{
    struct drng_provctx *provctx = vprovctx;
    const char *failed = NULL;
    if (!drng_process_self_test(&failed)) {
        drng_raise(&provctx->core, DRNG_R_SELF_TEST_FAILED, "%s", failed);
        return 0;
    }
    return drng_test_instructions(provctx) ? 1 : 0;
}

/* exit() lets libcrypto clean up while other threads may still draw: what they use is left to the kernel. */
static void teardown(void *vprovctx)
{
    struct drng_provctx *provctx = vprovctx;
    if (!atomic_load(&drng_process.exits) && drng_pairs_close(provctx)) {
        drng_provctx_free(provctx);
    } else {
        drng_pairs_leave(provctx);
    }
}

static const OSSL_DISPATCH provider_functions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown},
    {OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (void (*)(void))gettable_params},
    {OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))get_params},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query_operation},
    {OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, (void (*)(void))get_reason_strings},
    {OSSL_FUNC_PROVIDER_SELF_TEST, (void (*)(void))self_test},
    {OSSL_FUNC_PROVIDER_RANDOM_BYTES, (void (*)(void))drng_random_bytes},
    {0, NULL},
};

__attribute__((visibility("default"))) int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                                                              const OSSL_DISPATCH **out, void **provctx)
{
    int cancel = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    struct drng_provctx *instance = drng_provctx_new(handle, in);
    const bool opened = instance != NULL && drng_pairs_open(instance);
    if (opened) {
        drng_report_loaded(instance);
        *provctx = instance;
        *out = provider_functions;
    } else if (instance != NULL) {
        drng_provctx_free(instance);
    }
    (void)pthread_setcancelstate(cancel, &cancel);
    return opened ? 1 : 0;
}
