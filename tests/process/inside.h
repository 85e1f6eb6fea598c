/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - what a generator keeps in its slot. inside.c takes the place of mixing/drbg/generator.c. */

#ifndef TEST_INSIDE_H
#define TEST_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "mixing/drbg/generator.h"

extern const size_t inside_batch_len;  /* bytes of a full batch */
extern const size_t inside_batch_most; /* bytes of a request that a batch serves */

/* Key, V and the counter. */
struct drng_ctr_drbg *inside_drbg(const struct drng_generator *generator);

/* Where a seed lies on its way in: DRNG_DRBG_MAX_SEEDLEN bytes. */
uint8_t *inside_entropy(const struct drng_generator *generator);

/* The batch; NULL: this generator has none. And how many bytes at its end wait to be handed out. */
uint8_t *inside_batch(const struct drng_generator *generator);
size_t inside_batched(const struct drng_generator *generator);

#endif
