/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a parent of another provider's for seeds; the guard lets it draw from drng meanwhile. */

#include "provider/rand/parent.h"

#include <pthread.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "provider/errors.h"
#include "provider/rand/instruction_rand.h"

/* What holds outside a function of the parent's. */
struct outside {
    enum drng_inside inside;
    int cancel;
};

/* Around each call: the parent may draw in its turn, and a thread that ended in it would leave locks held. */
static struct outside call_out(void)
{
    int cancel = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    return (struct outside){drng_guard_note(DRNG_CALLS_OUT), cancel};
}

static void come_back(struct outside outside)
{
    (void)drng_guard_note(outside.inside);
    (void)pthread_setcancelstate(outside.cancel, &outside.cancel);
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

/* SP 800-90C permits a weaker parent under conditions that are not implemented here: refuse. */
static bool can_seed(const struct drng_parent *parent, unsigned strength)
{
    const struct drng_core *core = &parent->provctx->core;
    if (parent->get_seed == NULL) {
        drng_raise(core, DRNG_R_PARENT_CANNOT_SEED, "it has no get_seed function");
        return false;
    }
    const unsigned has = ask(parent, OSSL_RAND_PARAM_STRENGTH);
    if (has < strength) {
        drng_raise(core, DRNG_R_PARENT_TOO_WEAK, "%u bits where this generator needs %u", has, strength);
        return false;
    }
    return true;
}

/*
 * The parent is asked for the length of its nonce first: provider-rand(7). False if that is less than was asked for, or
 * if it then returns another length.
 */
static bool get_nonce(const struct drng_parent *parent, struct drng_entropy *entropy)
{
    const struct drng_core *core = &parent->provctx->core;
    const size_t len = parent->nonce(parent->ctx, NULL, entropy->strength, entropy->nonce_len, entropy->max_len);
    unsigned char *nonce = len >= entropy->nonce_len ? drng_zalloc(core, len) : NULL;
    if (nonce != NULL &&
        parent->nonce(parent->ctx, nonce, entropy->strength, entropy->nonce_len, entropy->max_len) == len) {
        entropy->held_nonce = nonce;
        entropy->nonce = (struct drng_bytes){nonce, len};
        return true;
    }
    drng_clear_free(core, nonce, len);
    drng_raise(core, DRNG_R_PARENT_GAVE_NO_SEED, "its nonce has %zu bytes where %zu were asked for, or did not come",
               len, entropy->nonce_len);
    return false;
}

static void release(void *vparent, struct drng_entropy *entropy)
{
    const struct drng_parent *parent = vparent;
    unsigned char *seed = entropy->held_seed;
    drng_clear_free(&parent->provctx->core, entropy->held_nonce, entropy->nonce.len);
    if (seed != NULL && parent->clear_seed != NULL) {
        const struct outside outside = call_out();
        if (lock(parent)) {
            parent->clear_seed(parent->ctx, seed, entropy->input.len);
            unlock(parent);
        }
        come_back(outside);
    }
}

/* The address of the parent's own record gives siblings different seeds, as the child's does in OpenSSL. */
static bool get_seed(const struct drng_parent *parent, struct drng_entropy *entropy)
{
    const bool combined = entropy->nonce_len > 0 && entropy->nonce.data == NULL;
    const size_t min_len = entropy->min_len + (combined ? entropy->nonce_len : 0);
    const unsigned bits = entropy->strength + (combined ? entropy->strength / 2 : 0);
    const void *address = parent;
    unsigned char *seed = NULL;
    size_t len = 0;
    if (lock(parent)) {
        len = parent->get_seed(parent->ctx, &seed, (int)bits, min_len, entropy->max_len, entropy->prediction_resistance,
                               (const unsigned char *)&address, sizeof(address));
        unlock(parent);
    }
    entropy->held_seed = len > 0 ? seed : NULL;
    entropy->input = (struct drng_bytes){entropy->held_seed, len};
    if (len < min_len || len > entropy->max_len) {
        drng_raise(&parent->provctx->core, DRNG_R_PARENT_GAVE_NO_SEED, "%zu bytes where %zu to %zu were asked for", len,
                   min_len, entropy->max_len);
        return false;
    }
    return true;
}

static enum drng_result get_from_foreign(struct drng_parent *parent, struct drng_entropy *entropy)
{
    const struct outside outside = call_out();
    const bool got = can_seed(parent, entropy->strength) &&
                     (entropy->nonce_len == 0 || parent->nonce == NULL || get_nonce(parent, entropy)) &&
                     get_seed(parent, entropy);
    come_back(outside);
    if (!got) {
        release(parent, entropy);
    }
    return got ? DRNG_OK : DRNG_NO_SEED;
}

/*
 * libcrypto makes its own seed source the parent if it is asked for a generator before it has read openssl.cnf, so this
 * parent may be nobody's choice, and the root must seed. Or somebody has chosen it, so its bytes must go in, too. They
 * are XORed, all of them, into those of the root, on which the claim of entropy rests alone: with `fallback = no` there
 * is no seed without an instruction.
 */
static enum drng_result get_from_root_and_parent(struct drng_parent *parent, const struct drng_guard *guard,
                                                 struct drng_entropy *entropy)
{
    struct drng_entropy theirs = *entropy; /* the same request; the answer of a foreign parent never lies in its slot */
    enum drng_result result = get_from_foreign(parent, &theirs);
    if (result == DRNG_OK) {
        result = drng_root_source.get(&parent->provctx->root, guard, entropy);
        if (result == DRNG_OK) {
            drng_seed_add(entropy->slot, entropy->input.len, theirs.input.data, theirs.input.len);
        }
        release(parent, &theirs);
    }
    return result;
}

/* How often the parent was seeded; 0: it does not say. Sources are not seeded. */
static unsigned seedings(void *vparent)
{
    const struct drng_parent *parent = vparent;
    unsigned count = 0;
    if (!parent->root_joins) {
        const struct outside outside = call_out();
        count = ask(parent, OSSL_DRBG_PARAM_RESEED_COUNTER);
        come_back(outside);
    }
    return count;
}

static enum drng_result get(void *vparent, const struct drng_guard *guard, struct drng_entropy *entropy)
{
    struct drng_parent *parent = vparent;
    if (parent->root_joins) {
        return get_from_root_and_parent(parent, guard, entropy);
    }
    const enum drng_result result = get_from_foreign(parent, entropy);
    entropy->seedings = seedings(parent); /* behind its answer: that may have made it reseed */
    return result;
}

const struct drng_entropy_source drng_parent_source = {.get = get, .release = release, .seedings = seedings};

/* ---- Which parent it is ---- */

/* OpenSSL's seed source states a strength and a length of requests that no DRBG has, and gives no nonces. So does
 * JITTER, also OpenSSL's. */
bool drng_parent_is_joined(struct drng_parent *parent)
{
    enum { STRENGTH = 1024, MAX_REQUEST = 128 };
    parent->root_joins = parent->nonce == NULL && ask(parent, OSSL_RAND_PARAM_STRENGTH) == STRENGTH &&
                         ask(parent, OSSL_RAND_PARAM_MAX_REQUEST) == MAX_REQUEST;
    return parent->root_joins;
}

void drng_parent_init(struct drng_parent *parent, struct drng_provctx *provctx, void *ctx,
                      const OSSL_DISPATCH *functions)
{
    *parent = (struct drng_parent){
        .provctx = provctx,
        .ctx = ctx,
        .enable_locking = OSSL_FUNC_rand_enable_locking(drng_dispatch_find(functions, OSSL_FUNC_RAND_ENABLE_LOCKING)),
        .lock = OSSL_FUNC_rand_lock(drng_dispatch_find(functions, OSSL_FUNC_RAND_LOCK)),
        .unlock = OSSL_FUNC_rand_unlock(drng_dispatch_find(functions, OSSL_FUNC_RAND_UNLOCK)),
        .get_ctx_params = OSSL_FUNC_rand_get_ctx_params(drng_dispatch_find(functions, OSSL_FUNC_RAND_GET_CTX_PARAMS)),
        .nonce = OSSL_FUNC_rand_nonce(drng_dispatch_find(functions, OSSL_FUNC_RAND_NONCE)),
        .get_seed = OSSL_FUNC_rand_get_seed(drng_dispatch_find(functions, OSSL_FUNC_RAND_GET_SEED)),
        .clear_seed = OSSL_FUNC_rand_clear_seed(drng_dispatch_find(functions, OSSL_FUNC_RAND_CLEAR_SEED)),
    };
}
