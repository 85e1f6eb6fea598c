/* The provider's interface to libcrypto: OSSL_provider_init() and the functions of provider-base(7). */

#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

#include "provider/errors.h"
#include "provider/observe/provider_params.h"
#include "provider/observe/report.h"
#include "provider/process.h"
#include "provider/provctx.h"
#include "provider/rand/drbg.h"
#include "provider/rand/random_bytes.h"
#include "provider/rand/rdrand.h"
#include "provider/rand/seed_src.h"

#define PROPERTY "provider=drng"

static const OSSL_ALGORITHM rands[] = {
    {"CTR-DRBG:DRNG-CTR-DRBG", PROPERTY, drng_drbg_functions, "SP 800-90A CTR_DRBG with AES"},
    {"DRNG-SEED:SEED-SRC", PROPERTY, drng_seed_src_functions, "the CPU's instructions, tested and conditioned"},
    {DRNG_HAS_GENERATOR ? DRNG_WORDS_NAME : NULL, PROPERTY, drng_rdrand_functions, "words of one of them, tested"},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query_operation(void *provctx, int operation, int *no_cache)
{
    (void)provctx;
    *no_cache = 0;
    return operation == OSSL_OP_RAND ? rands : NULL;
}

static const OSSL_ITEM *get_reason_strings(void *provctx)
{
    (void)provctx;
    return drng_reason_strings;
}

/* OSSL_PROVIDER_self_test(): runs every known-answer test again, including HMAC. */
static int self_test(void *vprovctx)
{
    const struct drng_provctx *provctx = vprovctx;
    const char *failed = NULL;
    if (!drng_process_self_test(true, &failed)) {
        drng_raise(&provctx->core, DRNG_R_SELF_TEST_FAILED, "%s", failed);
        return 0;
    }
    return 1;
}

static void teardown(void *vprovctx)
{
    struct drng_provctx *provctx = vprovctx;
    drng_threads_free(provctx->threads);
    drng_provctx_free(provctx);
}

static const OSSL_DISPATCH provider_functions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown},
    {OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (void (*)(void))drng_provider_params_gettable},
    {OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))drng_provider_params_get},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query_operation},
    {OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, (void (*)(void))get_reason_strings},
    {OSSL_FUNC_PROVIDER_SELF_TEST, (void (*)(void))self_test},
    {OSSL_FUNC_PROVIDER_RANDOM_BYTES, (void (*)(void))drng_random_bytes},
    {0, NULL},
};

__attribute__((visibility("default"))) int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                                                              const OSSL_DISPATCH **out, void **provctx)
{
    struct drng_provctx *instance = drng_provctx_new(handle, in);
    if (instance == NULL) {
        return 0;
    }
    instance->threads = drng_threads_new(&instance->core);
    if (instance->threads == NULL) {
        drng_raise(&instance->core, DRNG_R_OUT_OF_MEMORY, NULL);
        drng_provctx_free(instance);
        return 0;
    }
    instance->threads_id = drng_threads_id(instance->threads);
    drng_report_loaded(instance);
    *provctx = instance;
    *out = provider_functions;
    return 1;
}
