/*
 * seed.h - makes seeds: which source serves, how many raw words a seed takes, what is mixed in.
 *
 * The sources are asked in order: each instruction that may be used, then the fallback. The first that serves makes the
 * whole seed. An instruction's words pass the health tests (noise.h) and are conditioned (conditioner.h); with
 * os_mixing, bytes of the kernel's generator are added.
 */

#ifndef DRNG_SEED_H
#define DRNG_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/noise.h"
#include "mixing/machine/claim.h"
#include "mixing/machine/counters.h"
#include "mixing/result.h"

/* The default seed source. Fills out[0..len), or returns false. */
typedef bool drng_fallback(void *arg, uint8_t *out, size_t len);

/* Set when the provider loads, then constant; shared by all threads. */
struct drng_seed_policy {
    struct drng_instruction *instructions[DRNG_INSTRUCTIONS]; /* NULL: not to be used */
    /* The certificate that counts the words of each, with an entropy above 0; NULL: they are counted by design. */
    const struct drng_claim *certified[DRNG_INSTRUCTIONS];
    const struct drng_aes *aes;
    enum drng_conditioner_kind conditioner;
    bool os_mixing;
    drng_fallback *fallback; /* NULL: there is no fallback */
    void *fallback_arg;
    struct drng_counters *counters;
};

/* A reader of seeds, used by one thread at a time. Secret; all zero is the initial state. */
struct drng_seed_reader {
    struct drng_noise noise[DRNG_INSTRUCTIONS];
};

/*
 * Fills out[0..len) with a seed. On failure out is all zero, and the result is DRNG_NO_FALLBACK or
 * DRNG_FALLBACK_FAILED. The next call tries again every source but the disabled instructions.
 */
DRNG_MUST_CHECK enum drng_result drng_seed_get(const struct drng_seed_policy *policy, struct drng_seed_reader *reader,
                                               uint8_t *out, size_t len);

/*
 * Adds bytes to a seed, by XOR; where there are more bytes than seed, they start over. If the bytes are independent of
 * the seed, the sum is no weaker than either.
 */
void drng_seed_add(uint8_t *seed, size_t len, const uint8_t *bytes, size_t bytes_len);

#endif
