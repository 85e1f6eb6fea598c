/* parent.h - what a generator asks of the one that seeds it, whoever's that is. */

#ifndef DRNG_PARENT_H
#define DRNG_PARENT_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

/* Fills out[0..len) with entropy input for `child`, or wipes it and leaves an error in the queue. */
typedef bool drng_parent_fill_fn(void *parent, const void *child, unsigned char *out, size_t len,
                                 bool prediction_resistance);

/* ctx NULL: no parent. A function that the parent does not offer is NULL. */
struct drng_parent {
    void *ctx;
    OSSL_FUNC_rand_enable_locking_fn *enable_locking;
    OSSL_FUNC_rand_lock_fn *lock;
    OSSL_FUNC_rand_unlock_fn *unlock;
    OSSL_FUNC_rand_get_ctx_params_fn *get_ctx_params;
    OSSL_FUNC_rand_nonce_fn *nonce;
    OSSL_FUNC_rand_get_seed_fn *get_seed;
    OSSL_FUNC_rand_clear_seed_fn *clear_seed;
    drng_parent_fill_fn *fill; /* NULL: not one of drng's own, and get_seed is asked */
};

void drng_parent_init(struct drng_parent *parent, void *ctx, const OSSL_DISPATCH *functions);

/* In bits; 0 if the parent does not say. */
unsigned drng_parent_strength(const struct drng_parent *parent);

/* How often the parent has been seeded, or 0 if it does not say. */
unsigned drng_parent_reseed_counter(const struct drng_parent *parent);

/*
 * A seed, to be given back by drng_parent_clear_seed(); 0 if there is none. entropy in bits, lengths in bytes;
 * `child` tells siblings apart.
 */
size_t drng_parent_get_seed(const struct drng_parent *parent, unsigned char **seed, unsigned entropy, size_t min_len,
                            size_t max_len, bool prediction_resistance, const void *child);
/* `fill` under the parent's lock. */
bool drng_parent_fill(const struct drng_parent *parent, const void *child, unsigned char *out, size_t len,
                      bool prediction_resistance);

void drng_parent_clear_seed(const struct drng_parent *parent, unsigned char *seed, size_t len);

#endif
