/*
 * seed.h - seeds: which source serves, how much raw material a bit of seed takes, what is mixed in.
 */

#ifndef DRNG_SEED_H
#define DRNG_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/noise.h"
#include "mixing/machine/counters.h"
#include "mixing/result.h"

/* The default seed source: fills out[0..len) or returns false. */
typedef bool drng_fallback(void *arg, uint8_t *out, size_t len);

/* Settled when the provider loads, and shared by all its threads. */
struct drng_seed_policy {
    struct drng_instruction *instructions[DRNG_INSTRUCTIONS]; /* NULL: not to be used */
    const struct drng_aes *aes;
    enum drng_conditioner_kind conditioner;
    bool os_mixing;
    drng_fallback *fallback; /* NULL: nothing else may serve */
    void *fallback_arg;
    struct drng_counters *counters;
};

/* One reader of seeds: one thread at a time. Secret; all zero is the initial state. */
struct drng_seed_reader {
    struct drng_noise noise[DRNG_INSTRUCTIONS];
};

/*
 * Fills out[0..len) with seed from the first source in line that has it: the instructions, the fallback. All of
 * out comes from one source. On failure out is all zero: DRNG_NO_FALLBACK or DRNG_FALLBACK_FAILED; the
 * next call tries again, except what a failed health test has disabled.
 */
DRNG_MUST_CHECK enum drng_result drng_seed_get(const struct drng_seed_policy *policy, struct drng_seed_reader *reader,
                                               uint8_t *out, size_t len);

#endif
