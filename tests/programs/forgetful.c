/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forgetful.c - a provider under drng's names that does not notice a fork: the failing twin of the tests that look
 * for bytes drawn twice. Its generator counts, and a child goes on where its parent was.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

enum { STRENGTH = 256, MAX_REQUEST = 1 << 16 };

struct generator {
    uint64_t count;
    int state;
};

static void *generator_new(void *provctx, void *parent, const OSSL_DISPATCH *parent_functions)
{
    return calloc(1, sizeof(struct generator));
}

static void generator_free(void *ctx)
{
    free(ctx);
}

static int generator_instantiate(void *ctx, unsigned strength, int prediction_resistance, const unsigned char *pstr,
                                 size_t pstr_len, const OSSL_PARAM params[])
{
    ((struct generator *)ctx)->state = EVP_RAND_STATE_READY;
    return 1;
}

static int generator_uninstantiate(void *ctx)
{
    ((struct generator *)ctx)->state = EVP_RAND_STATE_UNINITIALISED;
    return 1;
}

/* The finalizer of SplitMix64: different for different counts, and of no other worth. */
static uint64_t scrambled(uint64_t count)
{
    uint64_t z = count * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static int generator_generate(void *ctx, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                              const unsigned char *additional, size_t additional_len)
{
    struct generator *generator = ctx;
    while (len > 0) {
        const uint64_t word = scrambled(++generator->count);
        const size_t part = len < sizeof(word) ? len : sizeof(word);
        memcpy(out, &word, part);
        out += part;
        len -= part;
    }
    return 1;
}

static int generator_enable_locking(void *ctx)
{
    return 1;
}

static int generator_get_ctx_params(void *ctx, OSSL_PARAM params[])
{
    OSSL_PARAM *state = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STATE);
    OSSL_PARAM *strength = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STRENGTH);
    OSSL_PARAM *max_request = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_MAX_REQUEST);
    return (state == NULL || OSSL_PARAM_set_int(state, ((struct generator *)ctx)->state)) &&
           (strength == NULL || OSSL_PARAM_set_uint(strength, STRENGTH)) &&
           (max_request == NULL || OSSL_PARAM_set_size_t(max_request, MAX_REQUEST));
}

static const OSSL_DISPATCH generator_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))generator_new},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))generator_free},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))generator_instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))generator_uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generator_generate},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))generator_enable_locking},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))generator_get_ctx_params},
    {0, NULL},
};

static const OSSL_ALGORITHM generators[] = {
    {"CTR-DRBG", "provider=drng", generator_functions, NULL},
    {"DRNG-SEED", "provider=drng", generator_functions, NULL},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query_operation(void *provctx, int operation, int *no_store)
{
    *no_store = 0;
    return operation == OSSL_OP_RAND ? generators : NULL;
}

static const OSSL_DISPATCH provider_functions[] = {
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query_operation},
    {0, NULL},
};

OSSL_provider_init_fn OSSL_provider_init;
int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
                       void **provctx)
{
    static int nothing;
    *provctx = &nothing;
    *out = provider_functions;
    return 1;
}
