/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_generator.c - seeds a generator of the program's own, xoshiro256**, for a simulation that can be repeated.
 *
 *     cc own_generator.c -o own_generator $(pkg-config --cflags --libs drng) && ./own_generator
 *
 * Such a generator is for simulations: whoever sees a few of its numbers knows all others. For keys use drng_read().
 */

#include <drng.h>
#include <inttypes.h>
#include <stdio.h>

/* xoshiro256** by David Blackman and Sebastiano Vigna, https://prng.di.unimi.it/xoshiro256starstar.c, public domain. */

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t next(uint64_t state[4])
{
    const uint64_t result = rotate(state[1] * 5, 7) * 9;
    const uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

/* The share of points in a square that lie in its circle, times four. */
static double estimate_pi(uint64_t state[4], unsigned points)
{
    unsigned inside = 0;
    for (unsigned i = 0; i < points; i++) {
        const double x = (double)(next(state) >> 11) / 9007199254740992.0;
        const double y = (double)(next(state) >> 11) / 9007199254740992.0;
        inside += x * x + y * y < 1.0;
    }
    return 4.0 * inside / points;
}

int main(void)
{
    uint64_t state[4];
    struct drng_seed_info info;

    const int error = drng_conditioned_seed(state, sizeof(state), DRNG_ANY, DRNG_BY_CBC_MAC, &info);
    if (error != DRNG_SUCCESS) {
        fprintf(stderr, "own_generator: %s\n", drng_strerror(error));
        return 1;
    }
    printf("seed of %s, conditioner %s", info.source, info.conditioner);
    printf(", %u raw words with %u bits claimed for 16 bytes\n", info.raw_words, info.claimed_bits);
    /* Put these into `state` to repeat the run. */
    printf("%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", state[0], state[1], state[2], state[3]);
    printf("pi is about %.3f\n", estimate_pi(state, 1000000));
    return 0;
}
