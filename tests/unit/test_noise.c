/* SPDX-License-Identifier: Apache-2.0 */
/* Raw words past the health tests, in bounded time. */

#include <string.h>

#include "mixing/entropy/noise.h"
#include "tests/unit/bytes.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { COUNT = 8, SLOW_NS = 50000, TAKEN_BEFORE = 0xaa };

static struct rig rig;

/* One reader, and the words that it read last. */
struct draw {
    struct drng_instruction *instruction;
    struct drng_noise *noise;
    uint64_t words[COUNT];
};

static struct draw rdrand_draw(scripted_behaviour *behaviour, uint64_t at)
{
    rig_set_up(&rig, scripted_good, behaviour);
    scripted_rdrand.at = at;
    struct draw draw = {.instruction = &rig.rdrand, .noise = &rig.reader.noise[DRNG_RDRAND]};
    memset(draw.words, TAKEN_BEFORE, sizeof(draw.words));
    return draw;
}

static struct draw rdseed_draw(scripted_behaviour *behaviour)
{
    rig_set_up(&rig, behaviour, scripted_good);
    struct draw draw = {.instruction = &rig.rdseed, .noise = &rig.reader.noise[DRNG_RDSEED]};
    memset(draw.words, TAKEN_BEFORE, sizeof(draw.words));
    return draw;
}

static enum drng_result read_words(struct draw *draw)
{
    struct drng_budget budget = drng_budget_of(DRNG_SEED_BUDGET_NS);
    return drng_noise_read(draw->instruction, draw->noise, &budget, draw->words, COUNT);
}

static bool holds(const struct draw *draw, const uint64_t *log)
{
    return memcmp(draw->words, log, sizeof(draw->words)) == 0;
}

UNIT_TEST("words are what the CPU gave")
{
    struct draw draw = rdrand_draw(scripted_good, 0);
    CU_ASSERT_EQUAL(read_words(&draw), DRNG_OK);
    CU_ASSERT_TRUE(holds(&draw, scripted_rdrand.log));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, COUNT);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, 0);
}

UNIT_TEST("RDRAND has ten tries for each word")
{
    struct draw draw = rdrand_draw(scripted_every, DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(read_words(&draw), DRNG_OK);
    CU_ASSERT_TRUE(holds(&draw, scripted_rdrand.log));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, COUNT * DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, COUNT * (DRNG_RDRAND_TRIES - 1));
}

UNIT_TEST("RDRAND is given up after ten tries")
{
    struct draw draw = rdrand_draw(scripted_every, DRNG_RDRAND_TRIES + 1);
    CU_ASSERT_EQUAL(read_words(&draw), DRNG_EXHAUSTED);
    CU_ASSERT_TRUE(bytes_are(draw.words, sizeof(draw.words), 0));
    CU_ASSERT_EQUAL(scripted_rdrand.executions, DRNG_RDRAND_TRIES);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].retries, DRNG_RDRAND_TRIES);
}

UNIT_TEST("a starved RDSEED is waited for")
{
    struct draw draw = rdseed_draw(scripted_mostly_dry);
    CU_ASSERT_EQUAL(read_words(&draw), DRNG_OK);
    CU_ASSERT_TRUE(holds(&draw, scripted_rdseed.log));
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDSEED].retries, scripted_rdseed.executions - COUNT);
    CU_ASSERT_TRUE(scripted_rdseed.executions > COUNT * DRNG_RDRAND_TRIES);
}

UNIT_TEST("a dry RDSEED is given up by time")
{
    struct draw draw = rdseed_draw(scripted_dry);
    const uint64_t before = scripted_clock_ns;
    CU_ASSERT_EQUAL(read_words(&draw), DRNG_EXHAUSTED);
    const uint64_t taken = scripted_clock_ns - before;
    CU_ASSERT_TRUE(taken >= DRNG_SEED_BUDGET_NS && taken < DRNG_SEED_BUDGET_NS + DRNG_SEED_BUDGET_NS / 100);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDSEED].retries, scripted_rdseed.executions);
    CU_ASSERT_TRUE(bytes_are(draw.words, sizeof(draw.words), 0));
}

static void slow_words_are_given_up_by_time(struct draw *draw, struct scripted_instruction *cpu)
{
    static uint64_t words[DRNG_RDRAND_WORDS];
    struct drng_budget budget = drng_budget_of(DRNG_SEED_BUDGET_NS);
    const uint64_t before = scripted_clock_ns;
    memset(words, TAKEN_BEFORE, sizeof(words));
    cpu->ns = SLOW_NS;
    CU_ASSERT_EQUAL(drng_noise_read(draw->instruction, draw->noise, &budget, words, DRNG_RDRAND_WORDS), DRNG_SLOW);
    CU_ASSERT_TRUE(bytes_are(words, sizeof(words), 0));
    CU_ASSERT_TRUE(scripted_clock_ns - before >= DRNG_SEED_BUDGET_NS);
    CU_ASSERT_TRUE(scripted_clock_ns - before <= DRNG_SEED_BUDGET_NS + DRNG_GAP_CAP_NS);
}

UNIT_TEST("a slow instruction is given up by time")
{
    struct draw rdrand = rdrand_draw(scripted_good, 0);
    slow_words_are_given_up_by_time(&rdrand, &scripted_rdrand);
    struct draw rdseed = rdseed_draw(scripted_good);
    slow_words_are_given_up_by_time(&rdseed, &scripted_rdseed);
}

/* Its twin: as many words, as fast as they come. */
UNIT_TEST("a window of words fits into the time")
{
    static uint64_t words[DRNG_RDRAND_WORDS];
    struct draw draw = rdrand_draw(scripted_good, 0);
    struct drng_budget budget = drng_budget_of(DRNG_SEED_BUDGET_NS);
    CU_ASSERT_EQUAL(drng_noise_read(draw.instruction, draw.noise, &budget, words, DRNG_RDRAND_WORDS), DRNG_OK);
    CU_ASSERT_EQUAL(memcmp(words, scripted_rdrand.log, sizeof(words)), 0);
}

UNIT_TEST("a bad word wipes the good ones before it")
{
    for (uint64_t at = 1; at < COUNT; at++) {
        struct draw draw = rdrand_draw(scripted_bad_word, at);
        CU_ASSERT_EQUAL(read_words(&draw), DRNG_HEALTH_FAILED);
        CU_ASSERT_TRUE(bytes_are(draw.words, sizeof(draw.words), 0));
        CU_ASSERT_EQUAL(scripted_rdrand.words, at + 1);
    }
}

UNIT_MAIN("noise")
