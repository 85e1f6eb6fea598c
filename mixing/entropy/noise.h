/*
 * noise.h - raw words of one instruction that have passed the health tests, in bounded time.
 *
 * A reader (struct drng_noise) reads words of an instruction (struct drng_instruction). Words serve only after the
 * instruction has passed its start-up tests, which happens once in a process. If a word fails a health test, the reader
 * starts over with the start-up tests, once; at the second failure the instruction is disabled for the life of the
 * process.
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
 * One instruction in this process, shared by all readers and threads. Set the row and the counters; the rest starts as
 * zero.
 */
struct drng_instruction {
    const struct drng_instruction_row *row;
    struct drng_instruction_counters *counters;

    atomic_bool started;     /* the start-up tests have passed in this process */
    atomic_bool disabled;    /* set at the second health failure, and never cleared */
    atomic_uint failed_test; /* enum drng_health_test of the last failure */
    atomic_uint failures;    /* health failures; a start-up test that began before the last one does not count */
};

/*
 * One reader of an instruction. Holds raw words and a key, so it is secret. All zero is the initial state, and a failed
 * health test returns it to that: so every value that a reader derives from an instruction and keeps must be in here.
 */
struct drng_noise {
    struct drng_health health;
    struct drng_startup startup;
    uint8_t key[DRNG_MAC_KEY_LEN]; /* of the conditioner; read from this instruction before its first seed */
    bool keyed;
};

/*
 * Reads words[0..count). On failure all of words is zero. After DRNG_EXHAUSTED a later call may succeed;
 * drng_noise_attempt() handles DRNG_HEALTH_FAILED.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_read(struct drng_instruction *instruction, struct drng_noise *noise,
                                                 struct drng_budget *budget, uint64_t *words, size_t count);

/*
 * Adds blocks * 2 words to `mac` without storing them; see drng_fused_mac(). The instruction's row must be `fused`.
 * Fails like drng_noise_read(), and then `mac` is only to be wiped.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_mac(struct drng_instruction *instruction, struct drng_noise *noise,
                                                struct drng_budget *budget, struct drng_cbc_mac *mac, size_t blocks);

/* A function that reads words. If it fails, drng_noise_attempt()'s caller wipes the output. */
typedef enum drng_result drng_noise_work(void *arg, struct drng_budget *budget);

/*
 * Runs `work` once the instruction has passed its start-up tests, all within budget_ns; an instruction that starves
 * gets DRNG_STARTUP_BUDGET_NS more for these tests. If a health test fails, the start-up tests and `work` run once
 * more; if it fails again, the instruction is disabled. Returns the result of `work`, or DRNG_UNAVAILABLE if the
 * instruction was disabled before.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_attempt(struct drng_instruction *instruction, struct drng_noise *noise,
                                                    uint64_t budget_ns, drng_noise_work *work, void *arg);

/*
 * Fills out[0..len) with words that have passed the health tests, unconditioned, so they are no seed. On failure out is
 * all zero, and the result is that of drng_noise_attempt().
 */
DRNG_MUST_CHECK enum drng_result drng_noise_fill(struct drng_instruction *instruction, struct drng_noise *noise,
                                                 uint8_t *out, size_t len);

#endif
