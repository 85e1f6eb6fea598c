#include "provider/rand/source.h"

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

struct drng_source_ctx *drng_source_new(struct drng_provctx *provctx)
{
    struct drng_source_ctx *source = drng_zalloc(&provctx->core, sizeof(*source));
    struct drng_reader_slot *slot = drng_secmem_alloc();
    if (source == NULL || slot == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        drng_secmem_free(slot);
        drng_free(&provctx->core, source);
        return NULL;
    }
    source->provctx = provctx;
    source->shared.slot = slot;
    source->state = EVP_RAND_STATE_UNINITIALISED;
    return source;
}

void drng_source_freectx(void *vsource)
{
    struct drng_source_ctx *source = vsource;
    if (source != NULL) {
        drng_secmem_free(source->shared.slot);
        drng_free(&source->provctx->core, source);
    }
}

/*
 * Always succeeds: if a seed source does not instantiate, libcrypto silently seeds from the operating system. An error
 * is raised when a seed is asked for.
 */
int drng_source_instantiate(void *vsource, unsigned strength, int prediction_resistance,
                            const unsigned char *personalization, size_t personalization_len, const OSSL_PARAM params[])
{
    struct drng_source_ctx *source = vsource;
    (void)strength;
    (void)prediction_resistance;
    (void)personalization;
    (void)personalization_len;
    (void)params;
    source->state = EVP_RAND_STATE_READY;
    return 1;
}

int drng_source_uninstantiate(void *vsource)
{
    struct drng_source_ctx *source = vsource;
    drng_wipe(&source->shared.slot->reader, sizeof(source->shared.slot->reader));
    source->state = EVP_RAND_STATE_UNINITIALISED;
    return 1;
}

int drng_source_verify_zeroization(void *vsource)
{
    const struct drng_source_ctx *source = vsource;
    return drng_is_wiped(&source->shared.slot->reader, sizeof(source->shared.slot->reader));
}

bool drng_source_ready(const struct drng_source_ctx *source)
{
    if (!drng_process_healthy()) {
        drng_raise(&source->provctx->core, DRNG_R_SELF_TEST_FAILED, NULL);
        return false;
    }
    if (source->state != EVP_RAND_STATE_READY) {
        drng_raise(&source->provctx->core, DRNG_R_NOT_INSTANTIATED, NULL);
        return false;
    }
    return true;
}

/* Nothing to do: every word is new. */
int drng_source_reseed(void *vsource, int prediction_resistance, const unsigned char *entropy, size_t entropy_len,
                       const unsigned char *additional, size_t additional_len)
{
    (void)prediction_resistance;
    (void)entropy;
    (void)entropy_len;
    (void)additional;
    (void)additional_len;
    return drng_source_ready(vsource);
}

/* ---- Locking ---- */

int drng_source_enable_locking(void *vsource)
{
    struct drng_source_ctx *source = vsource;
    source->locking = true;
    return 1;
}

int drng_source_lock(void *vsource)
{
    struct drng_source_ctx *source = vsource;
    return source == NULL || !source->locking || drng_lock_or_share(&source->shared.slot->lock);
}

void drng_source_unlock(void *vsource)
{
    struct drng_source_ctx *source = vsource;
    if (source != NULL && source->locking) {
        drng_unlock(&source->shared.slot->lock);
    }
}

/* ---- Parameters ---- */

const OSSL_PARAM *drng_source_gettable_ctx_params(void *vsource, void *provctx)
{
    static const OSSL_PARAM known[] = {
        OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL),
        OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL),
        OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL),
        OSSL_PARAM_END,
    };
    (void)vsource;
    (void)provctx;
    return known;
}

int drng_source_get_params(const struct drng_source_ctx *source, OSSL_PARAM params[], unsigned strength,
                           size_t max_request)
{
    return drng_params_set_int(params, OSSL_RAND_PARAM_STATE, source->state) &&
           drng_params_set_uint(params, OSSL_RAND_PARAM_STRENGTH, strength) &&
           drng_params_set_size(params, OSSL_RAND_PARAM_MAX_REQUEST, max_request);
}

/* ---- Seeds ---- */

size_t drng_source_get_seed(struct drng_source_ctx *source, const struct drng_seed_policy *policy, unsigned char **seed,
                            int entropy, size_t min_len, size_t max_len)
{
    size_t len = 0;
    unsigned char *buffer = drng_seed_buffer_for(&source->provctx->core, entropy, min_len, max_len, &len);
    if (buffer == NULL) {
        return 0;
    }
    if (!drng_source_ready(source) || !drng_seeding_fill(source->provctx, policy, &source->shared, buffer, len)) {
        drng_seed_buffer_free(&source->provctx->core, buffer, len);
        return 0;
    }
    *seed = buffer;
    return len;
}

void drng_source_clear_seed(void *vsource, unsigned char *seed, size_t len)
{
    const struct drng_source_ctx *source = vsource;
    drng_seed_buffer_free(&source->provctx->core, seed, len);
}
