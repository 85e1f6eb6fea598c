/*
 * budget.h - how long one source of seeds may take before the next one is asked.
 *
 * Measured in wall time: the CPU time clock costs a system call, which a sandbox may forbid. While the process is off
 * the CPU, wall time goes on, and a fast instruction would look slow. So the time between two looks at the clock is
 * charged as one millisecond at most. Slow words therefore need frequent looks, or they would overrun the budget: the
 * slower the words, the fewer of them come between two looks.
 *
 * The clock may stand still: a filter of system calls may refuse it where it takes one. Then each look is charged as
 * DRNG_LOOK_NS, which is less than two looks are apart, so that an instruction which starves is given up all the same.
 *
 * The worst case of a seed is RDSEED in its start-up, then RDRAND: 2 + 1.5 + 5.5 ms; as much where both are seed-grade
 * and in their start-up. This and the other budgets stay below the 10 ms that tests/fuzz/machine.h allows a seed, but
 * for seeds by certificate (claim.h): on AMD's CPUs one of 384 bits takes 1,764 words, and may take 106 ms.
 */

#ifndef DRNG_BUDGET_H
#define DRNG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/os.h"

enum {
    DRNG_SEED_BUDGET_NS = 2000000,    /* one instruction, one seed, if another source is next */
    DRNG_PLAIN_BUDGET_NS = 4000000,   /* the same for RDRAND if AES is in plain C, which takes most of the time */
    DRNG_LAST_BUDGET_NS = 5500000,    /* the same if no other source is next */
    DRNG_SOLE_BUDGET_NS = 9000000,    /* the same for RDRAND if no other source exists: it may use RDSEED's time, too */
    DRNG_STARTUP_BUDGET_NS = 1500000, /* added while the start-up tests of RDSEED are not done */
    DRNG_CERTIFIED_WORD_NS = 60000,   /* a word of a seed by certificate; two threads on a Zen 5 took 47 us */
    DRNG_GAP_CAP_NS = 1000000,
    DRNG_LOOK_NS = 100,
};

struct drng_budget {
    uint64_t last_ns;
    uint64_t left_ns;
    unsigned stride; /* words between two looks at the clock */
    unsigned words;  /* words left before the next look at the clock */
};

static inline struct drng_budget drng_budget_of(uint64_t ns)
{
    return (struct drng_budget){.last_ns = drng_os_clock_ns(), .left_ns = ns, .stride = 2, .words = 2};
}

/* Looks at the clock, charges the time since the last look, and returns that time as the clock has it. */
static inline uint64_t drng_budget_charge(struct drng_budget *budget)
{
    const uint64_t now = drng_os_clock_ns();
    const uint64_t gap = now - budget->last_ns;
    const uint64_t most = gap < DRNG_GAP_CAP_NS ? gap : DRNG_GAP_CAP_NS;
    const uint64_t charge = most > DRNG_LOOK_NS ? most : DRNG_LOOK_NS;
    budget->last_ns = now;
    budget->left_ns -= charge < budget->left_ns ? charge : budget->left_ns;
    return gap;
}

static inline bool drng_budget_spent(const struct drng_budget *budget)
{
    return budget->left_ns == 0;
}

static inline unsigned drng_budget_stride(uint64_t ns_per_word)
{
    enum { FAST_NS = 2000, SLOW_NS = DRNG_GAP_CAP_NS / 8 };
    return ns_per_word <= FAST_NS ? 128 : ns_per_word <= SLOW_NS ? 8 : 1;
}

/* Counts words that were read, at most budget->words of them. False: the budget is spent. */
static inline bool drng_budget_count(struct drng_budget *budget, unsigned words)
{
    budget->words -= words;
    if (budget->words == 0) {
        budget->stride = drng_budget_stride(drng_budget_charge(budget) / budget->stride);
        budget->words = budget->stride;
    }
    return !drng_budget_spent(budget);
}

#endif
