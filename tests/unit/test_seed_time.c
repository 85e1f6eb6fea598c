/* SPDX-License-Identifier: Apache-2.0 */
/* How long a seed may take: each source in line has its time, and the last one has more. */

#include <string.h>

#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { SEED_LEN = 48, SLOW_NS = 50000, ALL_SOURCES_NS = DRNG_STEADY_BUDGET_NS + 10000000 };

static struct rig rig;

/* A process whose start-up tests are done; what it has left to do is the seed. */
static void set_up(const struct rig_way *way)
{
    rig_set_up(&rig, scripted_good, scripted_good);
    rig_take_way(&rig, way);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        rig.reader.noise[i].startup = (struct drng_startup){.words = DRNG_STARTUP_WORDS, .trial = 1};
    }
}

static uint64_t time_of_a_seed(enum drng_source source)
{
    uint8_t out[SEED_LEN];
    const uint64_t before = scripted_clock_ns;
    const enum drng_result status = rig_seed(&rig, out, sizeof(out));
    CU_ASSERT_EQUAL(status, source != DRNG_SOURCE_NONE ? DRNG_OK : DRNG_NO_FALLBACK);
    CU_ASSERT_EQUAL(rig.counters.source, source);
    return scripted_clock_ns - before;
}

/* Given up when its time is over, and not much later. */
static bool is_about(uint64_t taken_ns, uint64_t budget_ns)
{
    return taken_ns >= budget_ns && taken_ns < budget_ns + DRNG_GAP_CAP_NS;
}

UNIT_TEST("good instructions take no time to speak of")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        set_up(&rig_ways[i]);
        CU_ASSERT_TRUE(time_of_a_seed(SCRIPTED_SOURCE_RDSEED) < DRNG_SEED_BUDGET_NS / 100);
        rig.policy.instructions[DRNG_RDSEED] = NULL;
        CU_ASSERT_TRUE(time_of_a_seed(SCRIPTED_SOURCE_RDRAND) < DRNG_SEED_BUDGET_NS / 10);
    }
}

UNIT_TEST("a dry RDSEED has more time where it is the last")
{
    set_up(&rig_ways[0]);
    scripted_rdseed.behaviour = scripted_dry;
    CU_ASSERT_TRUE(is_about(time_of_a_seed(SCRIPTED_SOURCE_RDRAND), DRNG_SEED_BUDGET_NS));
    rig.policy.instructions[DRNG_RDRAND] = NULL;
    CU_ASSERT_TRUE(is_about(time_of_a_seed(DRNG_SOURCE_FALLBACK), DRNG_SEED_BUDGET_NS));
    rig.policy.fallback = NULL;
    CU_ASSERT_TRUE(is_about(time_of_a_seed(DRNG_SOURCE_NONE), DRNG_LAST_BUDGET_NS));
    rig.policy.instructions[DRNG_RDRAND] = &rig.rdrand;
    CU_ASSERT_TRUE(is_about(time_of_a_seed(SCRIPTED_SOURCE_RDRAND), DRNG_SEED_BUDGET_NS));
    rig.rdrand.disabled = true;
    CU_ASSERT_TRUE(is_about(time_of_a_seed(DRNG_SOURCE_NONE), DRNG_LAST_BUDGET_NS));
}

UNIT_TEST("a slow RDRAND has more time where it is the last")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        set_up(&rig_ways[i]);
        rig.policy.instructions[DRNG_RDSEED] = NULL;
        scripted_rdrand.ns = SLOW_NS;
        CU_ASSERT_TRUE(is_about(time_of_a_seed(DRNG_SOURCE_FALLBACK), DRNG_STEADY_BUDGET_NS / 8));
        rig.policy.fallback = NULL;
        CU_ASSERT_TRUE(is_about(time_of_a_seed(DRNG_SOURCE_NONE), DRNG_STEADY_BUDGET_NS));
        rig.policy.instructions[DRNG_RDSEED] = &rig.rdseed;
        scripted_rdseed.behaviour = scripted_zeros;
        CU_ASSERT_TRUE(is_about(time_of_a_seed(DRNG_SOURCE_NONE), DRNG_STEADY_BUDGET_NS));
    }
}

/* The first seed of a primary, on a CPU whose microcode slows RDRAND down, and that many share. */
UNIT_TEST("a slow RDRAND serves where it is all there is")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        set_up(&rig_ways[i]);
        rig.policy.instructions[DRNG_RDSEED] = NULL;
        rig.policy.fallback = NULL;
        scripted_rdrand.ns = 5000;
        CU_ASSERT_TRUE(time_of_a_seed(SCRIPTED_SOURCE_RDRAND) < DRNG_LAST_BUDGET_NS);
    }
}

/* A process whose relative has found RDRAND slow: its reader is fresh, and all it has in common is the family's page.
 */
static uint64_t time_of_a_relatives_seed(enum drng_source source)
{
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        rig.reader.noise[i] = (struct drng_noise){0};
    }
    memset(&rig.counters, 0, sizeof(rig.counters));
    const uint64_t taken = time_of_a_seed(source);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].last_result, DRNG_LAST_SLOW);
    return taken;
}

UNIT_TEST("that RDRAND is slow a family finds out once a minute")
{
    const uint64_t minute = DRNG_SLOW_SECONDS * UINT64_C(1000000000);
    set_up(&rig_ways[0]);
    rig.policy.instructions[DRNG_RDSEED] = NULL;
    scripted_rdrand.ns = SLOW_NS;
    CU_ASSERT_TRUE(is_about(time_of_a_seed(DRNG_SOURCE_FALLBACK), DRNG_STEADY_BUDGET_NS / 8));
    for (unsigned i = 0; i < 10; i++) {
        CU_ASSERT_TRUE(time_of_a_relatives_seed(DRNG_SOURCE_FALLBACK) < DRNG_SEED_BUDGET_NS / 100);
    }
    CU_ASSERT_EQUAL(rig.family.instructions[DRNG_RDRAND].slow, 1);
    scripted_clock_ns += minute + 1;
    CU_ASSERT_TRUE(is_about(time_of_a_relatives_seed(DRNG_SOURCE_FALLBACK), DRNG_STEADY_BUDGET_NS / 8));
    CU_ASSERT_EQUAL(rig.family.instructions[DRNG_RDRAND].slow, 2);

    /* It is asked where nobody else would be, and whatever a relative has written that is no time of the last minute.
     */
    rig.policy.fallback = NULL;
    CU_ASSERT_TRUE(is_about(time_of_a_relatives_seed(DRNG_SOURCE_NONE), DRNG_STEADY_BUDGET_NS));
    rig.family.instructions[DRNG_RDRAND].slow_until = scripted_clock_ns + minute + 1;
    CU_ASSERT_FALSE(drng_noise_is_slow(&rig.rdrand));
    rig.family.instructions[DRNG_RDRAND].slow_until = scripted_clock_ns + minute;
    CU_ASSERT_TRUE(drng_noise_is_slow(&rig.rdrand));
}

/* Others starve RDSEED for a moment: that is no verdict. */
UNIT_TEST("that RDSEED was slow is not remembered")
{
    static uint8_t out[4 * SEED_LEN];
    set_up(&rig_ways[0]);
    scripted_rdseed.ns = SLOW_NS;
    CU_ASSERT_EQUAL(rig_seed(&rig, out, sizeof(out)), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDSEED].last_result, DRNG_LAST_SLOW);
    scripted_rdseed.ns = 1;
    CU_ASSERT_TRUE(time_of_a_seed(SCRIPTED_SOURCE_RDSEED) < DRNG_SEED_BUDGET_NS / 100);
}

UNIT_TEST("where RDSEED is to give many words it has the time for them")
{
    set_up(&rig_ways[0]);
    rig.policy.rdseed_words = 780;
    scripted_rdseed.ns = 9000;
    CU_ASSERT_TRUE(time_of_a_seed(SCRIPTED_SOURCE_RDSEED) > 3 * 780 * UINT64_C(9000));
    scripted_rdseed.behaviour = scripted_dry;
    CU_ASSERT_TRUE(is_about(time_of_a_seed(SCRIPTED_SOURCE_RDRAND), 3 * 780 * UINT64_C(10000)));
}

/* RDSEED is not slow by itself: its seeds take few words, so they take many blocks to be given up. */
UNIT_TEST("a slow RDSEED is given up too")
{
    static uint8_t out[4 * SEED_LEN];
    set_up(&rig_ways[0]);
    scripted_rdseed.ns = SLOW_NS;
    const uint64_t before = scripted_clock_ns;
    CU_ASSERT_EQUAL(rig_seed(&rig, out, sizeof(out)), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDRAND);
    CU_ASSERT_TRUE(scripted_clock_ns - before < 2 * DRNG_SEED_BUDGET_NS);
}

/* The start-up tests of both, the waiting for one and the slowness of the other, and nobody to fall back on. */
UNIT_TEST("the worst seed of all is bounded")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        rig_set_up(&rig, scripted_dry, scripted_good);
        rig_take_way(&rig, &rig_ways[i]);
        rig.policy.fallback = NULL;
        scripted_rdrand.ns = SLOW_NS;
        /* Call after call: the start-up tests come to their end, and the seed is still too slow. */
        for (unsigned call = 0; call < 5; call++) {
            CU_ASSERT_TRUE(time_of_a_seed(DRNG_SOURCE_NONE) < ALL_SOURCES_NS);
        }
        CU_ASSERT_TRUE(drng_noise_has_started(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]));
    }
}

/* ---- Who serves, by how long a word takes ---- */

/* Where nobody but the fallback is behind RDRAND. The first seed: with the start-up tests and the key. */
UNIT_TEST("a slow RDRAND serves before the fallback does")
{
    static const unsigned times_ns[] = {100, 320, 1000, 1300, 5000, 10000, 13000, 20000, 50000, 100000};
    for (size_t way = 0; way < rig_way_count(); way++) {
        for (size_t i = 0; i < sizeof(times_ns) / sizeof(*times_ns); i++) {
            static uint8_t out[SEED_LEN];
            rig_set_up(&rig, scripted_good, scripted_good);
            rig_take_way(&rig, &rig_ways[way]);
            rig.policy.instructions[DRNG_RDSEED] = NULL;
            scripted_rdrand.ns = times_ns[i];
            const uint64_t before = scripted_clock_ns;
            CU_ASSERT_EQUAL(rig_seed(&rig, out, sizeof(out)), DRNG_OK);
            const bool serves = rig.served == SCRIPTED_SOURCE_RDRAND;
            CU_ASSERT_EQUAL(serves, times_ns[i] <= 13000);
            CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].last_result,
                            serves ? DRNG_LAST_SERVED : DRNG_LAST_SLOW);
            CU_ASSERT_TRUE(scripted_clock_ns - before < DRNG_STEADY_BUDGET_NS + DRNG_GAP_CAP_NS);
        }
    }
}

int main(void)
{
    return unit_run("seed_time");
}
