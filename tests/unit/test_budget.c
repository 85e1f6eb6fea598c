/* SPDX-License-Identifier: Apache-2.0 */
/* Time budgets, on a clock that moves when the test says so. */

#include "mixing/entropy/noise.h"
#include "tests/scripted/os.h"
#include "tests/unit/unit.h"

static struct drng_budget fresh_budget(uint64_t ns)
{
    scripted_os_reset();
    return drng_budget_of(ns);
}

UNIT_TEST("a budget starts now and whole")
{
    const struct drng_budget budget = fresh_budget(500);
    CU_ASSERT_EQUAL(budget.last_ns, scripted_clock_ns);
    CU_ASSERT_EQUAL(budget.left_ns, 500);
    CU_ASSERT_TRUE(budget.left_ns > 0);
}

UNIT_TEST("a look charges the time since the last one")
{
    struct drng_budget budget = fresh_budget(500);
    scripted_clock_ns += 200;
    CU_ASSERT_EQUAL(drng_budget_charge(&budget), 200);
    CU_ASSERT_EQUAL(budget.left_ns, 300);
    scripted_clock_ns += DRNG_LOOK_NS;
    CU_ASSERT_EQUAL(drng_budget_charge(&budget), DRNG_LOOK_NS);
    CU_ASSERT_EQUAL(budget.left_ns, 300 - DRNG_LOOK_NS);
}

/* As where a filter of system calls refuses the clock: an instruction that starves must be given up all the same. */
UNIT_TEST("a clock that stands still spends a budget")
{
    struct drng_budget budget = fresh_budget(DRNG_SEED_BUDGET_NS);
    unsigned looks = 0;
    while (budget.left_ns > 0 && looks < DRNG_SEED_BUDGET_NS) {
        CU_ASSERT_EQUAL(drng_budget_charge(&budget), 0);
        looks++;
    }
    CU_ASSERT_EQUAL(looks, DRNG_SEED_BUDGET_NS / DRNG_LOOK_NS);
}

UNIT_TEST("time that passes unseen is not charged")
{
    const struct drng_budget budget = fresh_budget(500);
    scripted_clock_ns += 1000;
    CU_ASSERT_TRUE(budget.left_ns > 0);
}

UNIT_TEST("a budget is spent at its end and not before")
{
    struct drng_budget budget = fresh_budget(500);
    scripted_clock_ns += 499;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_TRUE(budget.left_ns > 0);
    scripted_clock_ns += 1;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_EQUAL(budget.left_ns, 0);
}

UNIT_TEST("an overdrawn budget stays at nothing")
{
    struct drng_budget budget = fresh_budget(500);
    scripted_clock_ns += 501;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_EQUAL(budget.left_ns, 0);
    scripted_clock_ns += 501;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_EQUAL(budget.left_ns, 0);
    CU_ASSERT_EQUAL(budget.left_ns, 0);
}

/* A process that was off the CPU for a second has not used its time. */
UNIT_TEST("a gap is charged up to its cap")
{
    struct drng_budget budget = fresh_budget(DRNG_SEED_BUDGET_NS);
    scripted_clock_ns += DRNG_GAP_CAP_NS - 1;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_EQUAL(budget.left_ns, DRNG_SEED_BUDGET_NS - DRNG_GAP_CAP_NS + 1);

    budget = fresh_budget(DRNG_SEED_BUDGET_NS);
    scripted_clock_ns += 1000000000;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_EQUAL(budget.left_ns, DRNG_SEED_BUDGET_NS - DRNG_GAP_CAP_NS);
    CU_ASSERT_TRUE(budget.left_ns > 0);
}

UNIT_TEST("what a look returns has no cap")
{
    struct drng_budget budget = fresh_budget(DRNG_SEED_BUDGET_NS);
    scripted_clock_ns += 1000000000;
    CU_ASSERT_EQUAL(drng_budget_charge(&budget), 1000000000);
    CU_ASSERT_EQUAL(drng_budget_charge(&budget), 0);
}

UNIT_TEST("no number of gaps is endless")
{
    struct drng_budget budget = fresh_budget(DRNG_LAST_BUDGET_NS);
    unsigned gaps = 0;
    while (budget.left_ns > 0 && gaps < 100) {
        scripted_clock_ns += 1000000000;
        (void)drng_budget_charge(&budget);
        gaps++;
    }
    CU_ASSERT_EQUAL(gaps, (DRNG_LAST_BUDGET_NS + DRNG_GAP_CAP_NS - 1) / DRNG_GAP_CAP_NS);
}

UNIT_MAIN("budget")
