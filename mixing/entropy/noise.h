/*
 * noise.h - raw words of one instruction, each past the health tests, in bounded time.
 */

#ifndef DRNG_NOISE_H
#define DRNG_NOISE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/budget.h"
#include "mixing/entropy/cbc_mac.h"
#include "mixing/entropy/health.h"
#include "mixing/machine/counters.h"
#include "mixing/machine/instruction.h"
#include "mixing/result.h"

/*
 * An instruction, as the whole process sees it: one object for each, shared by all readers and threads. Set the row
 * and the counters, and leave the others zero.
 */
struct drng_instruction {
    const struct drng_instruction_row *row;
    struct drng_instruction_counters *counters;

    atomic_bool started;     /* the start-up tests have passed in this process */
    atomic_bool disabled;    /* a second health failure: for good */
    atomic_uint failed_test; /* enum drng_health_test of the last failure */
    atomic_uint failures;    /* what start-up tests have seen before one of them counts for nothing after it */
};

/*
 * One reader's view of an instruction. Holds raw words and a key, so it is secret; all zero is the initial state. A
 * failed health test sets it back to that: whatever a reader took from an instruction and keeps belongs in here.
 */
struct drng_noise {
    struct drng_health health;
    struct drng_startup startup;
    uint8_t key[DRNG_MAC_KEY_LEN]; /* of the conditioner, drawn from this instruction with its first seed */
    bool keyed;
};

/*
 * Fills words[0..count). On failure all of words is zero: DRNG_EXHAUSTED may clear up later, and
 * DRNG_HEALTH_FAILED is for drng_noise_attempt() to judge.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_read(struct drng_instruction *instruction, struct drng_noise *noise,
                                                 struct drng_budget *budget, uint64_t *words, size_t count);

/*
 * Takes blocks * 2 words of the instruction whose row is `fused` into `mac` without storing them; see drng_fused_mac().
 * Fails like drng_noise_read(), and then `mac` is good for nothing but wiping.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_mac(struct drng_instruction *instruction, struct drng_noise *noise,
                                                struct drng_budget *budget, struct drng_cbc_mac *mac, size_t blocks);

/* Work that consumes words. What it made before it fails is no output: the caller of the attempt wipes it. */
typedef enum drng_result drng_noise_work(void *arg, struct drng_budget *budget);

/*
 * Runs `work` on an instruction that has passed its start-up tests, all within budget_ns (and what one
 * that starves gets on top for those tests). If a health test fails on the way, the tests start afresh and the work
 * runs once more; a second failure disables the instruction for the process. Beside what `work` returns:
 * DRNG_UNAVAILABLE once it is disabled.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_attempt(struct drng_instruction *instruction, struct drng_noise *noise,
                                                    uint64_t budget_ns, drng_noise_work *work, void *arg);

/*
 * Fills out[0..len) with words past the health tests, unconditioned: what is no seed. On failure out is all zero, and
 * the result is that of drng_noise_attempt().
 */
DRNG_MUST_CHECK enum drng_result drng_noise_fill(struct drng_instruction *instruction, struct drng_noise *noise,
                                                 uint8_t *out, size_t len);

#endif
