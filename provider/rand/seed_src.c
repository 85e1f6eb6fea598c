#include "provider/rand/seed_src.h"

#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/rand/instruction_rand.h"
#include "provider/rand/seeding.h"

enum { STRENGTH = 1024 }; /* bits, as in libcrypto's SEED-SRC, so that it can seed a generator of any strength */

static void *newctx(void *vprovctx, void *parent, const OSSL_DISPATCH *parent_functions)
{
    struct drng_provctx *provctx = vprovctx;
    (void)parent_functions;
    if (parent != NULL) {
        drng_raise(&provctx->core, DRNG_R_SEED_SOURCE_WITH_PARENT, NULL);
        return NULL;
    }
    return drng_instruction_rand_new(provctx);
}

static int generate(void *vctx, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                    const unsigned char *additional, size_t additional_len)
{
    struct drng_instruction_rand *ctx = vctx;
    (void)strength;
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;
    if (!drng_instruction_rand_ready(ctx)) {
        drng_wipe(out, len);
        return 0;
    }
    if (!drng_seeding_fill(ctx->provctx, &ctx->provctx->policy, &ctx->shared, out, len)) {
        return 0;
    }
    drng_request_counts_add(drng_request_counts_shared(), len);
    return 1;
}

bool drng_seed_src_fill(void *vctx, const void *child, unsigned char *out, size_t len, bool prediction_resistance)
{
    struct drng_instruction_rand *ctx = vctx;
    (void)child;
    (void)prediction_resistance;
    return drng_instruction_rand_ready(ctx) &&
           drng_seeding_fill(ctx->provctx, &ctx->provctx->policy, &ctx->shared, out, len);
}

static size_t get_seed(void *vctx, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                       int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    struct drng_instruction_rand *ctx = vctx;
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;
    return drng_instruction_rand_get_seed(ctx, &ctx->provctx->policy, seed, entropy, min_len, max_len);
}

static int get_ctx_params(void *vctx, OSSL_PARAM params[])
{
    return drng_instruction_rand_get_params(vctx, params, STRENGTH, DRNG_SEED_PIECE);
}

const OSSL_DISPATCH drng_seed_src_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))newctx},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))drng_instruction_rand_freectx},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))drng_instruction_rand_instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))drng_instruction_rand_uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate},
    {OSSL_FUNC_RAND_RESEED, (void (*)(void))drng_instruction_rand_reseed},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))drng_instruction_rand_enable_locking},
    {OSSL_FUNC_RAND_LOCK, (void (*)(void))drng_instruction_rand_lock},
    {OSSL_FUNC_RAND_UNLOCK, (void (*)(void))drng_instruction_rand_unlock},
    {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))drng_instruction_rand_gettable_ctx_params},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params},
    {OSSL_FUNC_RAND_VERIFY_ZEROIZATION, (void (*)(void))drng_instruction_rand_verify_zeroization},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))drng_instruction_rand_clear_seed},
    {0, NULL},
};
