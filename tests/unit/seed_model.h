/* SPDX-License-Identifier: Apache-2.0 */
/* seed_model.h - the seed that words make, computed with libcrypto. */

#ifndef TEST_SEED_MODEL_H
#define TEST_SEED_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/conditioner.h"

enum { SEED_MODEL_KEY_WORDS = 2 };

/*
 * The seed that `kind` makes of `words`, one window for each 16 bytes. False: libcrypto failed.
 */
bool seed_model_condition(enum drng_conditioner_kind kind, const uint64_t key[SEED_MODEL_KEY_WORDS],
                          const uint64_t *words, size_t window, uint8_t *out, size_t len);

/* The number of words for a seed of len bytes. */
size_t seed_model_words(size_t window, size_t len);

#endif
