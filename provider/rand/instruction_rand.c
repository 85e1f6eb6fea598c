#include "provider/rand/instruction_rand.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/params.h"
#include "provider/process.h"
#include "provider/rand/seed_buffer.h"
#include "provider/rand/seeding.h"

/* ---- Life ---- */

struct drng_instruction_rand *drng_instruction_rand_new(struct drng_provctx *provctx)
{
    struct drng_instruction_rand *ctx = drng_zalloc(&provctx->core, sizeof(*ctx));
    struct drng_reader_slot *slot = drng_secmem_alloc();
    if (ctx == NULL || slot == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        drng_secmem_free(slot);
        drng_free(&provctx->core, ctx);
        return NULL;
    }
    ctx->provctx = provctx;
    ctx->shared.slot = slot;
    ctx->state = EVP_RAND_STATE_UNINITIALISED;
    return ctx;
}

void drng_instruction_rand_freectx(void *vctx)
{
    struct drng_instruction_rand *ctx = vctx;
    if (ctx != NULL) {
        drng_secmem_free(ctx->shared.slot);
        drng_free(&ctx->provctx->core, ctx);
    }
}

/*
 * Always succeeds: if a seed source does not instantiate, libcrypto silently seeds from the operating system. An error
 * is raised when a seed is asked for.
 */
int drng_instruction_rand_instantiate(void *vctx, unsigned strength, int prediction_resistance,
                                      const unsigned char *personalization, size_t personalization_len,
                                      const OSSL_PARAM params[])
{
    struct drng_instruction_rand *ctx = vctx;
    (void)strength;
    (void)prediction_resistance;
    (void)personalization;
    (void)personalization_len;
    (void)params;
    ctx->state = EVP_RAND_STATE_READY;
    return 1;
}

int drng_instruction_rand_uninstantiate(void *vctx)
{
    struct drng_instruction_rand *ctx = vctx;
    drng_wipe(&ctx->shared.slot->reader, sizeof(ctx->shared.slot->reader));
    ctx->state = EVP_RAND_STATE_UNINITIALISED;
    return 1;
}

int drng_instruction_rand_verify_zeroization(void *vctx)
{
    const struct drng_instruction_rand *ctx = vctx;
    return drng_is_wiped(&ctx->shared.slot->reader, sizeof(ctx->shared.slot->reader));
}

bool drng_instruction_rand_ready(const struct drng_instruction_rand *ctx)
{
    if (!drng_process_healthy()) {
        drng_raise(&ctx->provctx->core, DRNG_R_SELF_TEST_FAILED, NULL);
        return false;
    }
    if (ctx->state != EVP_RAND_STATE_READY) {
        drng_raise(&ctx->provctx->core, DRNG_R_NOT_INSTANTIATED, NULL);
        return false;
    }
    return true;
}

/* Nothing to do: every word is new. */
int drng_instruction_rand_reseed(void *vctx, int prediction_resistance, const unsigned char *entropy,
                                 size_t entropy_len, const unsigned char *additional, size_t additional_len)
{
    (void)prediction_resistance;
    (void)entropy;
    (void)entropy_len;
    (void)additional;
    (void)additional_len;
    return drng_instruction_rand_ready(vctx);
}

/* ---- Locking ---- */

int drng_instruction_rand_enable_locking(void *vctx)
{
    struct drng_instruction_rand *ctx = vctx;
    ctx->locking = true;
    return 1;
}

int drng_instruction_rand_lock(void *vctx)
{
    struct drng_instruction_rand *ctx = vctx;
    return ctx == NULL || !ctx->locking || drng_lock_or_share(&ctx->shared.slot->lock);
}

void drng_instruction_rand_unlock(void *vctx)
{
    struct drng_instruction_rand *ctx = vctx;
    if (ctx != NULL && ctx->locking) {
        drng_unlock(&ctx->shared.slot->lock);
    }
}

/* ---- Parameters ---- */

const OSSL_PARAM *drng_instruction_rand_gettable_ctx_params(void *vctx, void *provctx)
{
    static const OSSL_PARAM known[] = {
        OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL),
        OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL),
        OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL),
        OSSL_PARAM_END,
    };
    (void)vctx;
    (void)provctx;
    return known;
}

int drng_instruction_rand_get_params(const struct drng_instruction_rand *ctx, OSSL_PARAM params[], unsigned strength,
                                     size_t max_request)
{
    return drng_params_set_int(params, OSSL_RAND_PARAM_STATE, ctx->state) &&
           drng_params_set_uint(params, OSSL_RAND_PARAM_STRENGTH, strength) &&
           drng_params_set_size(params, OSSL_RAND_PARAM_MAX_REQUEST, max_request);
}

/* ---- Seeds ---- */

size_t drng_instruction_rand_get_seed(struct drng_instruction_rand *ctx, const struct drng_seed_policy *policy,
                                      unsigned char **seed, int entropy, size_t min_len, size_t max_len)
{
    size_t len = 0;
    unsigned char *buffer = drng_seed_buffer_for(&ctx->provctx->core, entropy, min_len, max_len, &len);
    if (buffer == NULL) {
        return 0;
    }
    if (!drng_instruction_rand_ready(ctx) || !drng_seeding_fill(ctx->provctx, policy, &ctx->shared, buffer, len)) {
        drng_seed_buffer_free(&ctx->provctx->core, buffer, len);
        return 0;
    }
    *seed = buffer;
    return len;
}

void drng_instruction_rand_clear_seed(void *vctx, unsigned char *seed, size_t len)
{
    const struct drng_instruction_rand *ctx = vctx;
    drng_seed_buffer_free(&ctx->provctx->core, seed, len);
}
