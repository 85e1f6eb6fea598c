/* SPDX-License-Identifier: Apache-2.0 */
/* parent.h - the parent of a CTR-DRBG; where it is another provider's, the source of its seeds. */

#pragma once

#include <stdbool.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "mixing/drbg/generator.h"
#include "provider/provctx.h"

/* Functions that the parent does not offer are NULL: all of them, where there is no parent. */
struct drng_parent {
    struct drng_provctx *provctx;
    bool root_joins; /* it is OpenSSL's own seed source: the provider's own source joins in */
    void *ctx;
    OSSL_FUNC_rand_enable_locking_fn *enable_locking;
    OSSL_FUNC_rand_lock_fn *lock;
    OSSL_FUNC_rand_unlock_fn *unlock;
    OSSL_FUNC_rand_get_ctx_params_fn *get_ctx_params;
    OSSL_FUNC_rand_nonce_fn *nonce;
    OSSL_FUNC_rand_get_seed_fn *get_seed;
    OSSL_FUNC_rand_clear_seed_fn *clear_seed;
};

void drng_parent_init(struct drng_parent *parent, struct drng_provctx *provctx, void *ctx,
                      const OSSL_DISPATCH *functions);

/* Whether the root is to join a parent of another provider's, which is asked. */
bool drng_parent_is_joined(struct drng_parent *parent);

/* The source of a generator whose parent is another provider's; its argument is the struct drng_parent. */
extern const struct drng_entropy_source drng_parent_source;
