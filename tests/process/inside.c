/* SPDX-License-Identifier: Apache-2.0 */
#include "mixing/drbg/generator.c" // NOLINT(bugprone-suspicious-include)

#include "tests/process/inside.h"

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
