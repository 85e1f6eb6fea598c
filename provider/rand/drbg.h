/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drbg.h - CTR-DRBG as an EVP_RAND, a replacement for libcrypto's CTR-DRBG (EVP_RAND-CTR-DRBG(7)).
 *
 * An adapter: mixing/drbg/generator.h does the work. random_bytes.c makes its generators here, too.
 */

#pragma once

#include <stdbool.h>

#include <openssl/core_dispatch.h>

#include "mixing/drbg/generator.h"
#include "provider/provctx.h"
#include "provider/rand/parent.h"

/* The context of the functions: those of provider-rand(7). */
struct drng_drbg {
    struct drng_provctx *provctx;
    struct drng_parent parent;
    bool is_foreign; /* the chain of parents ends in another provider's */
    struct drng_generator generator;
};

extern const OSSL_DISPATCH drng_drbg_functions[];

/*
 * Prepares a generator of this instance, all zero but for its parent, its source and whether requests are mixed
 * (`is_own`: its seeds are drng's). False: no memory; no error is raised.
 */
bool drng_drbg_prepare(struct drng_provctx *provctx, struct drng_generator *generator, bool is_own);
void drng_drbg_discard(struct drng_generator *generator);

/*
 * To be called after each call that has failed, or has taken a seed. Records what the seed has changed, and raises the
 * errors of the result (drng_raise_unseeded()). Returns 1 for DRNG_OK, or 0. A child, or a copy, made meanwhile holds
 * what its parent has drawn: where drng_epoch() is not what it was before a draw, that is made anew.
 */
int drng_drbg_answer(struct drng_provctx *provctx, struct drng_generator *generator, enum drng_result result,
                     bool drawing);

/* Whether it has taken no seed since. */
static inline bool drng_drbg_is_told(const struct drng_generator *generator)
{
    return atomic_load_explicit(&generator->told, memory_order_relaxed) ==
           atomic_load_explicit(&generator->seedings, memory_order_relaxed);
}
