/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.h - raw words of one instruction that have passed the health tests, in bounded time.
 *
 * A reader (struct drng_noise) reads words of an instruction (struct drng_instruction). It gives none before words that
 * it has read itself have passed the start-up tests: a forked child has readers of its own, and so has each context of
 * a seed source, so none of them relies on what another one has seen.
 */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/machine/counters.h"
#include "mixing/machine/instruction.h"
#include "mixing/result.h"

/* ---- Time budgets: how long one source of seeds may take before the next one is asked ---- */

/*
 * Measured in wall time: the CPU time clock costs a system call, which a sandbox may forbid. While the process is off
 * the CPU, wall time goes on, and a fast instruction would look slow. So the time between two looks at the clock is
 * charged as one millisecond at most. Slow words therefore need frequent looks, or they would overrun the budget: the
 * slower the words, the fewer of them come between two looks.
 *
 * The clock may stand still: a filter of system calls may refuse it where it takes one. Then each look is charged
 * DRNG_LOOK_NS, so that a loop which waits for an instruction ends.
 *
 * A source that is the last in line gets a long time: if it gives up, a program gets no random bytes, and a processor
 * that is shared by many may take it off the CPU at every look. An instruction that does not starve takes thousands of
 * words for a seed, and gets a long time in any place: 10 microseconds for each of them. Where microcode mends SRBDS,
 * RDRAND takes one, and seeds are rare. One that will not be done in twice that time is given up after an eighth of it,
 * if another source is next. The worst case of a seed with eight words a block is 2 + 3 + 100 ms of charged time, where
 * RDSEED is in its start-up: 128 words of it take 2.9 ms where many starve it (23 microseconds a word, seen on Zen 5).
 */

enum {
    DRNG_SEED_BUDGET_NS = 2000000,     /* one instruction that starves, one seed, if another source is next */
    DRNG_LAST_BUDGET_NS = 50000000,    /* the same if no other source is next */
    DRNG_STEADY_BUDGET_NS = 100000000, /* the same for an instruction that does not starve, in any place */
    DRNG_WORD_BUDGET_NS = 10000,       /* each word of such a seed, where that is more: with rdseed_words */
    DRNG_STARTUP_BUDGET_NS = 3000000,  /* added while the reader's start-up tests of RDSEED are not done */
    DRNG_GAP_CAP_NS = 1000000,
    DRNG_LOOK_NS = 100,
};

struct drng_budget {
    uint64_t last_ns;
    uint64_t left_ns;
    uint64_t whole_ns;
    size_t needed;   /* words, if it is to end early where these will not come in time; 0: it is not */
    size_t read;     /* words that were counted */
    unsigned stride; /* words between two looks at the clock */
    unsigned words;  /* words left before the next look at the clock */
};

/* A budget that begins now. */
struct drng_budget drng_budget_of(uint64_t ns);

/* Looks at the clock, charges the time since the last look, and returns that time as the clock has it. */
uint64_t drng_budget_charge(struct drng_budget *budget);

/* Counts words that were read. False: the budget is spent. */
bool drng_budget_count(struct drng_budget *budget, unsigned words);

/* ---- Words ---- */

/*
 * One instruction in this process, shared by all readers and threads. Set the row and both counters; the rest starts as
 * zero.
 */
struct drng_instruction {
    const struct drng_instruction_row *row;
    struct drng_instruction_counters *counters;
    struct drng_family_counters *family;

    atomic_uint failures;    /* health failures; each begins a new trial of all readers, and the first trial is 1 */
    atomic_int disabled;     /* 1 from two health failures in one attempt, or eight in all, on; never cleared */
    atomic_uint failed_test; /* enum drng_health_test of the last failure */
    atomic_uint dry;         /* request_entropy.c: requests in a row that it gave no word */
    atomic_bool left_alone;  /* request_entropy.c: it was dry too often; the next seed lets it be asked again */
};

/*
 * One reader of an instruction. Holds raw words and a key, so it is secret. All zero is the initial state. A failed
 * health test returns it to that, but for the word that failed: so every value that a reader derives from an
 * instruction and keeps must be in here.
 */
struct drng_noise {
    struct drng_health health;
    struct drng_startup startup;
    uint8_t key[DRNG_MAC_KEY_LEN]; /* of the conditioner; read from this instruction before its first seed */
    bool keyed;
};

/* Whether this reader's words have passed the start-up tests, and no reader of this process has failed one since. */
bool drng_noise_has_started(const struct drng_instruction *instruction, const struct drng_noise *noise);

/*
 * Reads words[0..count). On failure all of words is zero. After DRNG_EXHAUSTED, no word, and DRNG_SLOW, too few in
 * their time, a later call may succeed; drng_noise_attempt() handles DRNG_HEALTH_FAILED.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_read(struct drng_instruction *instruction, struct drng_noise *noise,
                                                 struct drng_budget *budget, uint64_t *words, size_t count);

/*
 * Adds blocks * 2 words to `mac` by drng_fused_mac(), within the budget; for an instruction whose row is `fused`. Fails
 * like drng_noise_read(), and then `mac` is only to be wiped.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_mac(struct drng_instruction *instruction, struct drng_noise *noise,
                                                struct drng_budget *budget, struct drng_cbc_mac *mac, size_t blocks);

/*
 * Whether the instruction does not starve, and has been too slow for a seed, or words, of this process or a relative
 * less than DRNG_SLOW_SECONDS ago: another source had better be asked. Each process of a family would lose
 * DRNG_STEADY_BUDGET_NS else, and a server may fork one for each connection. At DRNG_STEADY_BUDGET_NS a minute it is 1
 * part in 600 of a CPU's time, and an instruction that has become fast is in use again after a minute.
 */
enum { DRNG_SLOW_SECONDS = 60 };
bool drng_noise_is_slow(const struct drng_instruction *instruction);

/* A function that reads words. If it fails, drng_noise_attempt()'s caller wipes the output. */
typedef enum drng_result drng_noise_work(void *arg, struct drng_budget *budget);

/*
 * Runs `work`, or nothing where it is NULL, once the reader has passed its start-up tests, all within budget_ns; an
 * instruction that starves gets DRNG_STARTUP_BUDGET_NS more for these tests. If a health test fails, the start-up
 * tests and `work` run once more; if it fails again, the instruction is disabled. Returns the result of `work`, or
 * DRNG_UNAVAILABLE if the instruction was disabled before; where there is work, the counters keep it (counters.h).
 */
DRNG_MUST_CHECK enum drng_result drng_noise_attempt(struct drng_instruction *instruction, struct drng_noise *noise,
                                                    uint64_t budget_ns, drng_noise_work *work, void *arg);

/*
 * Fills out[0..len) with words that have passed the health tests, unconditioned, so they are no seed: each in at most
 * `tries` executions and, if `timed`, all in DRNG_LAST_BUDGET_NS. On failure out is all zero, and the result is that of
 * drng_noise_attempt(). No vector register keeps a word.
 */
DRNG_MUST_CHECK enum drng_result drng_noise_fill(struct drng_instruction *instruction, struct drng_noise *noise,
                                                 unsigned tries, bool timed, uint8_t *out, size_t len);
