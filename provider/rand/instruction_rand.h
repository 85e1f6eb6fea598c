/*
 * instruction_rand.h - the parts that DRNG-SEED and RDRAND share: context, life, locking, and get_seed. void * is a
 * struct drng_instruction_rand.
 */

#ifndef DRNG_INSTRUCTION_RAND_H
#define DRNG_INSTRUCTION_RAND_H

#include <stdbool.h>

#include <openssl/core_dispatch.h>

#include "provider/provctx.h"

struct drng_instruction_rand {
    struct drng_provctx *provctx;
    struct drng_shared_reader shared;
    bool locking;
    int state; /* EVP_RAND_STATE_* */
};

/* NULL, with an error in the queue: no memory. */
struct drng_instruction_rand *drng_instruction_rand_new(struct drng_provctx *provctx);

/* Whether it is instantiated, and no self-test has failed. False: an error is in the queue. */
bool drng_instruction_rand_ready(const struct drng_instruction_rand *ctx);

OSSL_FUNC_rand_freectx_fn drng_instruction_rand_freectx;
OSSL_FUNC_rand_instantiate_fn drng_instruction_rand_instantiate;
OSSL_FUNC_rand_uninstantiate_fn drng_instruction_rand_uninstantiate;
OSSL_FUNC_rand_reseed_fn drng_instruction_rand_reseed;
OSSL_FUNC_rand_enable_locking_fn drng_instruction_rand_enable_locking;
OSSL_FUNC_rand_lock_fn drng_instruction_rand_lock;
OSSL_FUNC_rand_unlock_fn drng_instruction_rand_unlock;
OSSL_FUNC_rand_verify_zeroization_fn drng_instruction_rand_verify_zeroization;
OSSL_FUNC_rand_clear_seed_fn drng_instruction_rand_clear_seed;
OSSL_FUNC_rand_gettable_ctx_params_fn drng_instruction_rand_gettable_ctx_params;

/* For get_ctx_params: sets the state, and the two parameters that differ between the algorithms. */
int drng_instruction_rand_get_params(const struct drng_instruction_rand *ctx, OSSL_PARAM params[], unsigned strength,
                                     size_t max_request);

/*
 * For get_seed: allocates a buffer and fills it with conditioned seed under `policy`. Returns its length, or 0 with an
 * error in the queue.
 */
size_t drng_instruction_rand_get_seed(struct drng_instruction_rand *ctx, const struct drng_seed_policy *policy,
                                      unsigned char **seed, int entropy, size_t min_len, size_t max_len);

#endif
