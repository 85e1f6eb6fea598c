/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - what a generator keeps in its slot. inside.c takes the place of mixing/drbg/generator.c. */

#ifndef TEST_INSIDE_H
#define TEST_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "mixing/drbg/generator.h"

/* Key, V and the counter. */
struct drng_ctr_drbg *inside_drbg(const struct drng_generator *generator);

/* Where a seed lies on its way in: DRNG_DRBG_MAX_SEEDLEN bytes. */
uint8_t *inside_entropy(const struct drng_generator *generator);

#endif
