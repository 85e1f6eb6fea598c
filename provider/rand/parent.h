/* parent.h - the parent of a generator, drng's own or another provider's. */

#ifndef DRNG_PARENT_H
#define DRNG_PARENT_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

/* Fills out[0..len) with entropy input for `child`. False: out is wiped, and an error is in the queue. */
typedef bool drng_parent_fill_fn(void *parent, const void *child, unsigned char *out, size_t len,
                                 bool prediction_resistance);

/* ctx is NULL if there is no parent. Functions that the parent does not offer are NULL. */
struct drng_parent {
    void *ctx;
    OSSL_FUNC_rand_enable_locking_fn *enable_locking;
    OSSL_FUNC_rand_lock_fn *lock;
    OSSL_FUNC_rand_unlock_fn *unlock;
    OSSL_FUNC_rand_get_ctx_params_fn *get_ctx_params;
    OSSL_FUNC_rand_nonce_fn *nonce;
    OSSL_FUNC_rand_get_seed_fn *get_seed;
    OSSL_FUNC_rand_clear_seed_fn *clear_seed;
    drng_parent_fill_fn *fill; /* NULL: the parent is not drng's own, and get_seed is called */
};

void drng_parent_init(struct drng_parent *parent, void *ctx, const OSSL_DISPATCH *functions);

/* In bits; 0: the parent does not say. */
unsigned drng_parent_strength(const struct drng_parent *parent);

/*
 * Whether the parent is OpenSSL's own seed source: it states a strength and a length of requests that no DRBG has, and
 * gives no nonces. So does JITTER, another of OpenSSL's own.
 */
bool drng_parent_is_openssls_seed_source(const struct drng_parent *parent);

/* How often the parent was seeded; 0: it does not say. */
unsigned drng_parent_reseed_counter(const struct drng_parent *parent);

/*
 * Gets a seed, to be freed by drng_parent_clear_seed(); returns its length, or 0. entropy in bits, lengths in bytes.
 * `child` gives siblings different seeds.
 */
size_t drng_parent_get_seed(const struct drng_parent *parent, unsigned char **seed, unsigned entropy, size_t min_len,
                            size_t max_len, bool prediction_resistance, const void *child);
/* Calls `fill` under the parent's lock. */
bool drng_parent_fill(const struct drng_parent *parent, const void *child, unsigned char *out, size_t len,
                      bool prediction_resistance);

void drng_parent_clear_seed(const struct drng_parent *parent, unsigned char *seed, size_t len);

#endif
