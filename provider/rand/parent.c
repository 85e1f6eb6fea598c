#include "provider/rand/parent.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

void drng_parent_init(struct drng_parent *parent, void *ctx, const OSSL_DISPATCH *functions)
{
    *parent = (struct drng_parent){.ctx = ctx};
    for (; functions != NULL && functions->function_id != 0; functions++) {
        switch (functions->function_id) {
        case OSSL_FUNC_RAND_ENABLE_LOCKING:
            parent->enable_locking = OSSL_FUNC_rand_enable_locking(functions);
            break;
        case OSSL_FUNC_RAND_LOCK:
            parent->lock = OSSL_FUNC_rand_lock(functions);
            break;
        case OSSL_FUNC_RAND_UNLOCK:
            parent->unlock = OSSL_FUNC_rand_unlock(functions);
            break;
        case OSSL_FUNC_RAND_GET_CTX_PARAMS:
            parent->get_ctx_params = OSSL_FUNC_rand_get_ctx_params(functions);
            break;
        case OSSL_FUNC_RAND_NONCE:
            parent->nonce = OSSL_FUNC_rand_nonce(functions);
            break;
        case OSSL_FUNC_RAND_GET_SEED:
            parent->get_seed = OSSL_FUNC_rand_get_seed(functions);
            break;
        case OSSL_FUNC_RAND_CLEAR_SEED:
            parent->clear_seed = OSSL_FUNC_rand_clear_seed(functions);
            break;
        default:
            break;
        }
    }
}

static bool lock(const struct drng_parent *parent)
{
    return parent->lock == NULL || parent->lock(parent->ctx) == 1;
}

static void unlock(const struct drng_parent *parent)
{
    if (parent->unlock != NULL) {
        parent->unlock(parent->ctx);
    }
}

/* An unsigned parameter of the parent's, or 0. */
static unsigned ask(const struct drng_parent *parent, const char *name)
{
    unsigned value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_uint(name, &value), OSSL_PARAM_END};
    if (parent->get_ctx_params == NULL || !lock(parent)) {
        return 0;
    }
    const int answered = parent->get_ctx_params(parent->ctx, params);
    unlock(parent);
    return answered == 1 ? value : 0;
}

unsigned drng_parent_strength(const struct drng_parent *parent)
{
    return ask(parent, OSSL_RAND_PARAM_STRENGTH);
}

bool drng_parent_is_openssls_seed_source(const struct drng_parent *parent)
{
    enum { STRENGTH = 1024, MAX_REQUEST = 128 };
    return parent->nonce == NULL && ask(parent, OSSL_RAND_PARAM_STRENGTH) == STRENGTH &&
           ask(parent, OSSL_RAND_PARAM_MAX_REQUEST) == MAX_REQUEST;
}

unsigned drng_parent_reseed_counter(const struct drng_parent *parent)
{
    return ask(parent, OSSL_DRBG_PARAM_RESEED_COUNTER);
}

size_t drng_parent_get_seed(const struct drng_parent *parent, unsigned char **seed, unsigned entropy, size_t min_len,
                            size_t max_len, bool prediction_resistance, const void *child)
{
    if (!lock(parent)) {
        return 0;
    }
    const size_t len = parent->get_seed(parent->ctx, seed, (int)entropy, min_len, max_len, prediction_resistance,
                                        (const unsigned char *)&child, sizeof(child));
    unlock(parent);
    return len;
}

void drng_parent_clear_seed(const struct drng_parent *parent, unsigned char *seed, size_t len)
{
    if (parent->clear_seed != NULL && lock(parent)) {
        parent->clear_seed(parent->ctx, seed, len);
        unlock(parent);
    }
}

bool drng_parent_fill(const struct drng_parent *parent, const void *child, unsigned char *out, size_t len,
                      bool prediction_resistance)
{
    if (!lock(parent)) {
        return false;
    }
    const bool filled = parent->fill(parent->ctx, child, out, len, prediction_resistance);
    unlock(parent);
    return filled;
}
