/* SPDX-License-Identifier: Apache-2.0 */
#include "mixing/drbg/generator.c" // NOLINT(bugprone-suspicious-include)

#include "tests/process/inside.h"

const size_t inside_batch_len = BATCH;
const size_t inside_batch_most = LONGEST_BATCHED;

static struct state *state_of(const struct drng_generator *generator)
{
    return (struct state *)(void *)generator->place.slot;
}

struct drng_ctr_drbg *inside_drbg(const struct drng_generator *generator)
{
    return &state_of(generator)->drbg;
}

uint8_t *inside_entropy(const struct drng_generator *generator)
{
    return state_of(generator)->entropy;
}

uint8_t *inside_batch(const struct drng_generator *generator)
{
    return generator->batch ? batch_of(state_of(generator)) : NULL;
}

size_t inside_batched(const struct drng_generator *generator)
{
    return state_of(generator)->batched;
}
