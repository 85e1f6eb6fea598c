/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seed.h - makes seeds: which source serves, how many raw words a seed takes, what is mixed in.
 *
 * The sources are asked in order: each instruction that may be used, then the fallback. The first that serves makes the
 * whole seed. An instruction's words pass the health tests (noise.h) and are conditioned (conditioner.h); with
 * os_mixing, bytes of the kernel's generator are added.
 */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/noise.h"
#include "mixing/machine/counters.h"
#include "mixing/result.h"
#include "mixing/state/guard.h"

/* The default seed source. Fills out[0..len), or returns false. */
typedef bool drng_fallback(void *arg, uint8_t *out, size_t len);

/* Set when the provider loads, then constant; shared by all threads. */
struct drng_seed_policy {
    struct drng_instruction *instructions[DRNG_INSTRUCTIONS]; /* NULL: not to be used */
    const struct drng_aes *aes;
    enum drng_conditioner_kind conditioner;
    uint32_t rdseed_words; /* of a seed-grade instruction for each block, an even number; 0: as many as its row has */
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
 * Fills out[0..len) with a seed, and says who made it. On failure out is all zero, *source is DRNG_SOURCE_NONE, and the
 * result is DRNG_NO_FALLBACK or DRNG_FALLBACK_FAILED. The next call tries again every source but the disabled
 * instructions. What each instruction came to is in its counters (last_result).
 */
DRNG_MUST_CHECK enum drng_result drng_seed_get(const struct drng_seed_policy *policy, struct drng_seed_reader *reader,
                                               uint8_t *out, size_t len, enum drng_source *source);

/*
 * Adds bytes to a seed, by XOR; where there are more bytes than seed, they start over. If the bytes are independent of
 * the seed, the sum is no weaker than either.
 */
void drng_seed_add(uint8_t *seed, size_t len, const uint8_t *bytes, size_t bytes_len);

/* ---- Where seeds begin: a reader that threads share, and that a fork may interrupt ---- */

enum { DRNG_SEED_PIECE = 64 }; /* bytes of a seed that share one time budget: at most four windows of RDRAND */

/* In a wide slot, so in a forked child the lock is free and the reader is in its initial state. */
struct drng_root_slot {
    struct drng_guarded guarded;
    struct drng_seed_reader reader;
};
_Static_assert(sizeof(struct drng_root_slot) <= DRNG_WIDE_SLOT_SIZE, "a seed reader outgrew its slot");

/* What gives seeds to generators (generator.h), and to whoever asks for one. */
struct drng_root {
    struct drng_place *place; /* of such a slot, a wide one; other roots may have the same */
    const struct drng_seed_policy *policy;
    atomic_bool open;    /* false: it gives no seeds */
    atomic_uint last;    /* enum drng_source: of the last attempt to make a seed */
    atomic_uint serving; /* enum drng_source: of the last seed */
};

/*
 * Always takes the lock: libcrypto from 3.5 on may have several threads seed generators from one seed source before it
 * calls enable_locking. NULL: drng_guard_take() says when.
 */
struct drng_root_slot *drng_root_take(struct drng_place *place, const struct drng_guard *guard);
void drng_root_give_back(struct drng_place *place, const struct drng_guard *guard, struct drng_root_slot *slot);

/*
 * Runs the start-up tests of each instruction of the policy anew (SP 800-90B, 4.3: tests on demand).
 * DRNG_HEALTH_FAILED: one of them is disabled, since now or before. DRNG_BUSY, DRNG_OTHER_PROCESS: the reader could not
 * be taken. Where one gives too few words in its time, the next seed goes on with its tests.
 */
DRNG_MUST_CHECK enum drng_result drng_root_test(const struct drng_root *root, const struct drng_guard *guard);

/*
 * Fills out[0..len) with conditioned seed, in pieces of DRNG_SEED_PIECE, and notes its source: the weakest if several
 * took turns (a source's number is the higher, the later it is asked). On failure out is all zero, and the result is
 * that of drng_seed_get(); DRNG_NO_SEED: the root is not open; or drng_place_denial()'s if the reader could not be
 * taken.
 */
DRNG_MUST_CHECK enum drng_result drng_root_seed(struct drng_root *root, const struct drng_guard *guard, uint8_t *out,
                                                size_t len);
