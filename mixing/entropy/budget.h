/*
 * budget.h - how long a source may take before the next one in line is asked.
 *
 * In wall time, since the CPU time clock costs a system call that a sandbox may forbid. A process that was off the
 * CPU would look like a slow instruction, so a gap between two looks at the clock counts as a millisecond at most.
 * The slower the words come, the more often the clock is looked at: otherwise slow words, charged at most a millisecond
 * each, would overrun the budget.
 */

#ifndef DRNG_BUDGET_H
#define DRNG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/os.h"

enum {
    DRNG_SEED_BUDGET_NS = 2000000,    /* one instruction, one seed, where another source is next in line */
    DRNG_PLAIN_BUDGET_NS = 4000000,   /* the same for RDRAND where AES is in plain C, whose time is most of it */
    DRNG_LAST_BUDGET_NS = 5500000,    /* the same for the last in line */
    DRNG_SOLE_BUDGET_NS = 9000000,    /* the same for RDRAND where it is all there is: RDSEED leaves its time to it */
    DRNG_STARTUP_BUDGET_NS = 1500000, /* on top, while the start-up tests of RDSEED are not done */
    DRNG_GAP_CAP_NS = 1000000,
};

struct drng_budget {
    uint64_t last_ns;
    uint64_t left_ns;
    unsigned stride; /* words between two looks at the clock */
    unsigned words;  /* left before the next look at the clock */
};

static inline struct drng_budget drng_budget_of(uint64_t ns)
{
    return (struct drng_budget){.last_ns = drng_os_clock_ns(), .left_ns = ns, .stride = 2, .words = 2};
}

/* Looks at the clock and charges the time since the last look; returns how much that was, uncapped. */
static inline uint64_t drng_budget_charge(struct drng_budget *budget)
{
    const uint64_t now = drng_os_clock_ns();
    const uint64_t gap = now - budget->last_ns;
    const uint64_t charge = gap < DRNG_GAP_CAP_NS ? gap : DRNG_GAP_CAP_NS;
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

/* Counts words that have come, at most budget->words; false once the budget is spent. */
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
