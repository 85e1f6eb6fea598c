/* Seeds whose words are counted by a certificate: their windows, their time, and what is claimed for them. */

#include <string.h>

#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum {
    SEED_LEN = 48,
    BLOCKS = SEED_LEN / DRNG_CONDITIONED_LEN,
    WINDOW_AT = DRNG_STARTUP_WORDS + RIG_KEY_WORDS,
    AMD_WORDS = 588,
    AMD_BITS = 192,
};

static struct rig rig;
static uint8_t out[SEED_LEN];

static const struct drng_claim amd = {.instruction = DRNG_RDSEED, .maker = "AMD", .certified_millibits = 328};
static const struct drng_claim half = {.instruction = DRNG_RDSEED, .maker = "Intel", .certified_millibits = 32000};

/* RDSEED is counted by `claim`, and no certificate counts RDRAND, so it makes no seeds. */
static void set_up(const struct rig_way *way, const struct drng_claim *claim)
{
    rig_set_up(&rig, scripted_good, scripted_good);
    rig_take_way(&rig, way);
    rig.policy.certified[DRNG_RDSEED] = claim;
    rig.policy.instructions[DRNG_RDRAND] = NULL;
    memset(out, 0, sizeof(out));
}

static enum drng_result get(void)
{
    return drng_seed_get(&rig.policy, &rig.reader, out, sizeof(out));
}

static void a_block_takes_the_words_of_the_certificate(void)
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        uint8_t seed[SEED_LEN];
        set_up(&rig_ways[i], &amd);
        CU_ASSERT_EQUAL(get(), DRNG_OK);
        CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDSEED);
        CU_ASSERT_EQUAL(scripted_rdseed.words, WINDOW_AT + BLOCKS * AMD_WORDS);
        CU_ASSERT_TRUE(rig_condition(rig.policy.conditioner, &scripted_rdseed.log[DRNG_STARTUP_WORDS],
                                     &scripted_rdseed.log[WINDOW_AT], AMD_WORDS, seed, sizeof(seed)));
        CU_ASSERT_EQUAL(memcmp(out, seed, sizeof(seed)), 0);
    }
}

static void a_rate_as_good_as_the_design_changes_nothing(void)
{
    uint8_t by_design[SEED_LEN];
    set_up(&rig_ways[0], NULL);
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    memcpy(by_design, out, sizeof(out));
    set_up(&rig_ways[0], &half);
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(out, by_design, sizeof(out)), 0);
    CU_ASSERT_EQUAL(scripted_rdseed.words, WINDOW_AT + BLOCKS * DRNG_RDSEED_WORDS);
}

/* 47 us is what a word took on a Zen 5 with two threads. */
static void a_slow_instruction_has_the_time_that_its_words_take(void)
{
    set_up(&rig_ways[0], &amd);
    scripted_rdseed.ns = 47000;
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDSEED);
    set_up(&rig_ways[0], NULL);
    scripted_rdseed.ns = 100000; /* by design, 24 words in 2 ms: too slow */
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, DRNG_SOURCE_FALLBACK);
}

static void the_time_has_an_end(void)
{
    const uint64_t budget_ns = BLOCKS * AMD_WORDS * (uint64_t)DRNG_CERTIFIED_WORD_NS;
    set_up(&rig_ways[0], &amd);
    rig.rdseed.started = true;
    scripted_rdseed.ns = 70000;
    const uint64_t before = scripted_clock_ns;
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, DRNG_SOURCE_FALLBACK);
    CU_ASSERT_TRUE(scripted_clock_ns - before >= budget_ns);
    CU_ASSERT_TRUE(scripted_clock_ns - before < budget_ns + DRNG_GAP_CAP_NS);
}

/* From the start or in the middle of a window: nobody waits the whole time for words that do not come. */
static void a_dry_instruction_is_given_up_sooner(void)
{
    static const uint64_t dry_from[] = {0, AMD_WORDS + 7};
    for (size_t i = 0; i < sizeof(dry_from) / sizeof(*dry_from); i++) {
        set_up(&rig_ways[0], &amd);
        rig.rdseed.started = true;
        scripted_rdseed.behaviour = scripted_dry_from;
        scripted_rdseed.at = dry_from[i];
        scripted_rdseed.ns = 1000;
        const uint64_t before = scripted_clock_ns;
        CU_ASSERT_EQUAL(get(), DRNG_OK);
        CU_ASSERT_EQUAL(rig.counters.source, DRNG_SOURCE_FALLBACK);
        CU_ASSERT_TRUE(scripted_clock_ns - before >= DRNG_SOLE_BUDGET_NS);
        CU_ASSERT_TRUE(scripted_clock_ns - before < DRNG_SOLE_BUDGET_NS + 2 * DRNG_GAP_CAP_NS);
    }
}

/* A window that held a bad word is not used, and what comes after the start-up tests fills a new one. */
static void a_failed_test_drops_the_window(void)
{
    uint8_t seed[SEED_LEN];
    const size_t bad = WINDOW_AT + AMD_WORDS + 100;
    const size_t key_at = bad + 1 + DRNG_STARTUP_WORDS;
    set_up(&rig_ways[0], &amd);
    scripted_rdseed.behaviour = scripted_bad_word;
    scripted_rdseed.at = bad;
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDSEED);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDSEED].health_failures, 1);
    CU_ASSERT_TRUE(rig_condition(rig.policy.conditioner, &scripted_rdseed.log[key_at],
                                 &scripted_rdseed.log[key_at + RIG_KEY_WORDS], AMD_WORDS, seed, sizeof(seed)));
    CU_ASSERT_EQUAL(memcmp(out, seed, sizeof(seed)), 0);
}

static void what_is_claimed_for_the_last_seed_is_noted(void)
{
    set_up(&rig_ways[0], &amd);
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.claimed, BLOCKS * AMD_BITS);
    rig.policy.certified[DRNG_RDSEED] = NULL;
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.claimed, BLOCKS * DRNG_WINDOW_BITS);
    scripted_rdseed.behaviour = scripted_dry;
    CU_ASSERT_EQUAL(get(), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, DRNG_SOURCE_FALLBACK);
    CU_ASSERT_EQUAL(rig.counters.claimed, 0);
    rig.policy.instructions[DRNG_RDRAND] = &rig.rdrand;
    CU_ASSERT_EQUAL(drng_seed_get(&rig.policy, &rig.reader, out, 17), DRNG_OK);
    CU_ASSERT_EQUAL(rig.counters.source, SCRIPTED_SOURCE_RDRAND);
    CU_ASSERT_EQUAL(rig.counters.claimed, 2 * DRNG_WINDOW_BITS);
    rig.policy.instructions[DRNG_RDRAND] = NULL;
    rig.policy.fallback = NULL;
    CU_ASSERT_EQUAL(get(), DRNG_NO_FALLBACK);
    CU_ASSERT_EQUAL(rig.counters.claimed, 0);
}

static const struct unit_test tests[] = {
    {"a block takes the words of the certificate", a_block_takes_the_words_of_the_certificate},
    {"a rate as good as the design changes nothing", a_rate_as_good_as_the_design_changes_nothing},
    {"a slow instruction has the time that its words take", a_slow_instruction_has_the_time_that_its_words_take},
    {"the time has an end", the_time_has_an_end},
    {"a dry instruction is given up sooner", a_dry_instruction_is_given_up_sooner},
    {"a failed test drops the window", a_failed_test_drops_the_window},
    {"what is claimed for the last seed is noted", what_is_claimed_for_the_last_seed_is_noted},
};

UNIT_MAIN("seed_certified", tests)
