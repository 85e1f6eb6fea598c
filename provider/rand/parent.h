/* SPDX-License-Identifier: Apache-2.0 */
/* parent.h - the parent of a CTR-DRBG; where it is another provider's, the source of its seeds. */

#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "mixing/drbg/generator.h"
#include "provider/provctx.h"

enum drng_parent_kind {
    DRNG_PARENT_NONE,      /* the provider's own source gives seeds */
    DRNG_PARENT_GENERATOR, /* a CTR-DRBG of drng's */
    DRNG_PARENT_SOURCE,    /* DRNG-SEED or RDRAND */
    DRNG_PARENT_OPENSSL,   /* OpenSSL's own seed source: the provider's own source joins in */
    DRNG_PARENT_FOREIGN,   /* any other */
};

/* Functions that the parent does not offer are NULL. */
struct drng_parent {
    struct drng_provctx *provctx;
    enum drng_parent_kind kind;
    void *ctx;
    OSSL_FUNC_rand_enable_locking_fn *enable_locking;
    OSSL_FUNC_rand_lock_fn *lock;
    OSSL_FUNC_rand_unlock_fn *unlock;
    OSSL_FUNC_rand_get_ctx_params_fn *get_ctx_params;
    OSSL_FUNC_rand_nonce_fn *nonce;
    OSSL_FUNC_rand_get_seed_fn *get_seed;
    OSSL_FUNC_rand_clear_seed_fn *clear_seed;
};

/* kind: what the caller knows of the parent. Of foreign ones OpenSSL's own seed source is recognized here. */
void drng_parent_init(struct drng_parent *parent, struct drng_provctx *provctx, enum drng_parent_kind kind, void *ctx,
                      const OSSL_DISPATCH *functions);

/* The source of a generator whose parent is another provider's; its argument is the struct drng_parent. */
extern const struct drng_entropy_source drng_parent_source;
