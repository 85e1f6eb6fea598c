/* Time budgets, on a clock that moves when the test says so. */

#include "mixing/entropy/noise.h"
#include "tests/scripted/os.h"
#include "tests/unit/unit.h"

static struct drng_budget fresh_budget(uint64_t ns)
{
    scripted_os_reset();
    return drng_budget_of(ns);
}

static void a_budget_starts_now_and_whole(void)
{
    const struct drng_budget budget = fresh_budget(500);
    CU_ASSERT_EQUAL(budget.last_ns, scripted_clock_ns);
    CU_ASSERT_EQUAL(budget.left_ns, 500);
    CU_ASSERT_TRUE(budget.left_ns > 0);
}

static void a_look_charges_the_time_since_the_last_one(void)
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
static void a_clock_that_stands_still_spends_a_budget(void)
{
    struct drng_budget budget = fresh_budget(DRNG_SEED_BUDGET_NS);
    unsigned looks = 0;
    while (budget.left_ns > 0 && looks < DRNG_SEED_BUDGET_NS) {
        CU_ASSERT_EQUAL(drng_budget_charge(&budget), 0);
        looks++;
    }
    CU_ASSERT_EQUAL(looks, DRNG_SEED_BUDGET_NS / DRNG_LOOK_NS);
}

static void time_that_passes_unseen_is_not_charged(void)
{
    const struct drng_budget budget = fresh_budget(500);
    scripted_clock_ns += 1000;
    CU_ASSERT_TRUE(budget.left_ns > 0);
}

static void a_budget_is_spent_at_its_end_and_not_before(void)
{
    struct drng_budget budget = fresh_budget(500);
    scripted_clock_ns += 499;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_TRUE(budget.left_ns > 0);
    scripted_clock_ns += 1;
    (void)drng_budget_charge(&budget);
    CU_ASSERT_EQUAL(budget.left_ns, 0);
}

static void an_overdrawn_budget_stays_at_nothing(void)
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
static void a_gap_is_charged_up_to_its_cap(void)
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

static void what_a_look_returns_has_no_cap(void)
{
    struct drng_budget budget = fresh_budget(DRNG_SEED_BUDGET_NS);
    scripted_clock_ns += 1000000000;
    CU_ASSERT_EQUAL(drng_budget_charge(&budget), 1000000000);
    CU_ASSERT_EQUAL(drng_budget_charge(&budget), 0);
}

static void no_number_of_gaps_is_endless(void)
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

static const struct unit_test tests[] = {
    {"a budget starts now and whole", a_budget_starts_now_and_whole},
    {"a look charges the time since the last one", a_look_charges_the_time_since_the_last_one},
    {"time that passes unseen is not charged", time_that_passes_unseen_is_not_charged},
    {"a budget is spent at its end and not before", a_budget_is_spent_at_its_end_and_not_before},
    {"an overdrawn budget stays at nothing", an_overdrawn_budget_stays_at_nothing},
    {"a gap is charged up to its cap", a_gap_is_charged_up_to_its_cap},
    {"what a look returns has no cap", what_a_look_returns_has_no_cap},
    {"no number of gaps is endless", no_number_of_gaps_is_endless},
    {"a clock that stands still spends a budget", a_clock_that_stands_still_spends_a_budget},
};

UNIT_MAIN("budget", tests)
