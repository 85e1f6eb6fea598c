#include "provider/rand/seed_src.h"

#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/rand/seeding.h"
#include "provider/rand/source.h"

enum { STRENGTH = 1024 }; /* bits, as in libcrypto's SEED-SRC, so that it can seed a generator of any strength */

static void *newctx(void *vprovctx, void *parent, const OSSL_DISPATCH *parent_functions)
{
    struct drng_provctx *provctx = vprovctx;
    (void)parent_functions;
    if (parent != NULL) {
        drng_raise(&provctx->core, DRNG_R_SEED_SOURCE_WITH_PARENT, NULL);
        return NULL;
    }
    return drng_source_new(provctx);
}

static int generate(void *vsource, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                    const unsigned char *additional, size_t additional_len)
{
    struct drng_source_ctx *source = vsource;
    (void)strength;
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;
    if (!drng_source_ready(source)) {
        drng_wipe(out, len);
        return 0;
    }
    if (!drng_seeding_fill(source->provctx, &source->provctx->policy, &source->shared, out, len)) {
        return 0;
    }
    drng_request_counts_add(drng_request_counts_shared(), len);
    return 1;
}

bool drng_seed_src_fill(void *vsource, const void *child, unsigned char *out, size_t len, bool prediction_resistance)
{
    struct drng_source_ctx *source = vsource;
    (void)child;
    (void)prediction_resistance;
    return drng_source_ready(source) &&
           drng_seeding_fill(source->provctx, &source->provctx->policy, &source->shared, out, len);
}

static size_t get_seed(void *vsource, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                       int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    struct drng_source_ctx *source = vsource;
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;
    return drng_source_get_seed(source, &source->provctx->policy, seed, entropy, min_len, max_len);
}

static int get_ctx_params(void *vsource, OSSL_PARAM params[])
{
    return drng_source_get_params(vsource, params, STRENGTH, DRNG_SEED_PIECE);
}

const OSSL_DISPATCH drng_seed_src_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))newctx},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))drng_source_freectx},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))drng_source_instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))drng_source_uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate},
    {OSSL_FUNC_RAND_RESEED, (void (*)(void))drng_source_reseed},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))drng_source_enable_locking},
    {OSSL_FUNC_RAND_LOCK, (void (*)(void))drng_source_lock},
    {OSSL_FUNC_RAND_UNLOCK, (void (*)(void))drng_source_unlock},
    {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))drng_source_gettable_ctx_params},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params},
    {OSSL_FUNC_RAND_VERIFY_ZEROIZATION, (void (*)(void))drng_source_verify_zeroization},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))drng_source_clear_seed},
    {0, NULL},
};
