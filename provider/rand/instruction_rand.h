/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction_rand.h - seeds from a source of drng's own, and the two algorithms that have no DRBG, as EVP_RANDs:
 *
 *   - DRNG-SEED and SEED-SRC: a seed source. The conditioned instructions, or the fallback (provider-rand(7)).
 *   - RDRAND, or RNDR on 64-bit Arm: unconditioned words, for users who want the CPU's generator as the only one. Where
 *     the CPU has none (DRNG_HAS_GENERATOR) libcrypto is not offered it.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <openssl/core_dispatch.h>

#include "mixing/drbg/generator.h"
#include "provider/provctx.h"

extern const OSSL_DISPATCH drng_seed_src_functions[];
extern const OSSL_DISPATCH drng_rdrand_functions[];

/* The root of a context of either: it seeds the generators whose parent this is. */
struct drng_root *drng_context_root(void *ctx);

/*
 * To be called after each call that should have taken a seed, and has failed. Records what has changed, and raises the
 * errors of the result: as drng_raise_result() does, and before that why a root gave no seed. root NULL: the seeds of
 * the call come from a foreign parent, which has said that itself. Returns 0.
 */
int drng_raise_unseeded(struct drng_provctx *provctx, const struct drng_root *root, enum drng_result result,
                        bool drawing);

/*
 * Runs the start-up health tests of each instruction that may make seeds, on demand. False: one has failed them and is
 * disabled, with an error in the queue; or this is a signal handler that interrupted a draw.
 */
bool drng_test_instructions(struct drng_provctx *provctx);

/*
 * The memory of a seed for a generator that is not drng's, from get_seed to clear_seed: `entropy` bits, but at least
 * min_len bytes; *len is its length. To be freed by drng_secure_clear_free(). NULL, with an error in the queue: max_len
 * is too small, or there is no memory.
 */
unsigned char *drng_seed_buffer(const struct drng_core *core, int entropy, size_t min_len, size_t max_len, size_t *len);
