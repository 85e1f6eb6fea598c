/*
 * budget.h - how long a source may take before the next one in line is asked.
 *
 * In wall time, since the CPU time clock costs a system call that a sandbox may forbid. A process that was off
 * the CPU would look like a slow instruction, so a gap between two looks at the clock counts as a
 * millisecond at most.
 */

#ifndef DRNG_BUDGET_H
#define DRNG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/os.h"

enum {
    DRNG_SEED_BUDGET_NS = 2000000,       /* one instruction, one seed */
    DRNG_FIRST_SEED_BUDGET_NS = 4000000, /* the same with the start-up tests in it */
    DRNG_GAP_CAP_NS = 1000000,
};

struct drng_budget {
    uint64_t last_ns;
    uint64_t left_ns;
};

static inline struct drng_budget drng_budget_of(uint64_t ns)
{
    return (struct drng_budget){.last_ns = drng_os_clock_ns(), .left_ns = ns};
}

/* Charges the time since the last look and returns how much that was, uncapped. */
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

#endif
