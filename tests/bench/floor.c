/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/floor.h"

#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "provider/params.h"

enum {
    STRENGTH = 256,
    MAX_REQUEST = 1 << 16,
    RANDOM_BYTES = 1032, /* OSSL_FUNC_PROVIDER_RANDOM_BYTES, which headers before 3.5 lack */
};

static int context;

static void *newctx(void *provctx, void *parent, const OSSL_DISPATCH *parent_functions)
{
    return &context;
}

static void freectx(void *ctx) {}

static int instantiate(void *ctx, unsigned strength, int prediction_resistance, const unsigned char *personalization,
                       size_t personalization_len, const OSSL_PARAM params[])
{
    return 1;
}

static int uninstantiate(void *ctx)
{
    return 1;
}

static int generate(void *ctx, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                    const unsigned char *additional, size_t additional_len)
{
    return 1;
}

static int enable_locking(void *ctx)
{
    return 1;
}

/*
 * Before each request libcrypto asks for max_request, and for nothing else. Its first letter tells it from the others
 * that libcrypto asks for: the time to compare names would be the provider's, and not libcrypto's.
 */
static int get_ctx_params(void *ctx, OSSL_PARAM params[])
{
    const size_t max_request = MAX_REQUEST;
    if (params[0].key != NULL && params[0].key[0] == 'm' && params[0].data_size == sizeof(max_request)) {
        memcpy(params[0].data, &max_request, sizeof(max_request));
        params[0].return_size = sizeof(max_request);
        return 1;
    }
    const struct drng_answer answers[] = {DRNG_NUMBER(OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL), EVP_RAND_STATE_READY)
                                              DRNG_NUMBER(OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL), STRENGTH)};
    return drng_params_answer(params, answers, 2);
}

static const OSSL_DISPATCH functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))newctx},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))freectx},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))enable_locking},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params},
    {0, NULL},
};

static const OSSL_ALGORITHM algorithms[] = {
    {"FLOOR", "provider=floor", functions, "fills nothing"},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query(void *provctx, int operation, int *no_cache)
{
    *no_cache = 0;
    return operation == OSSL_OP_RAND ? algorithms : NULL;
}

static int random_bytes(void *provctx, int which, void *out, size_t len, unsigned strength)
{
    return 1;
}

static const OSSL_DISPATCH provider_functions[] = {
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query},
    {RANDOM_BYTES, (void (*)(void))random_bytes},
    {0, NULL},
};

int bench_floor_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out, void **provctx)
{
    *out = provider_functions;
    *provctx = &context;
    return 1;
}
