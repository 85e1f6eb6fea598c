/* SPDX-License-Identifier: Apache-2.0 */
/* Work on an instruction: its start-up tests before, and what follows when a word fails. */

#include <string.h>

#include "mixing/entropy/noise.h"
#include "tests/unit/bytes.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { COUNT = 8, SLOW_NS = 50000, TAKEN_BEFORE = 0xaa };

static struct rig rig;

/* What these tests have an attempt do: draw COUNT words, or fail in a way of its own. */
struct draw {
    struct drng_instruction *instruction;
    struct drng_noise *noise;
    enum drng_result instead;
    unsigned runs;
    uint64_t words[COUNT];
};

static enum drng_result draw_words(void *arg, struct drng_budget *budget)
{
    struct draw *draw = arg;
    draw->runs++;
    return draw->instead != DRNG_OK ? draw->instead
                                    : drng_noise_read(draw->instruction, draw->noise, budget, draw->words, COUNT);
}

static struct draw draw_from(struct drng_instruction *instruction, struct drng_noise *noise)
{
    struct draw draw = {.instruction = instruction, .noise = noise};
    memset(draw.words, TAKEN_BEFORE, sizeof(draw.words));
    return draw;
}

static enum drng_result attempt(struct draw *draw)
{
    return drng_noise_attempt(draw->instruction, draw->noise, DRNG_SEED_BUDGET_NS, draw_words, draw);
}

/* A reader of RDRAND on a CPU where it behaves like this from word `at` on. */
static struct draw rdrand_draw(scripted_behaviour *behaviour, uint64_t at)
{
    rig_set_up(&rig, scripted_good, behaviour);
    scripted_rdrand.at = at;
    return draw_from(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]);
}

static bool holds_log(const struct draw *draw, size_t from)
{
    return memcmp(draw->words,
                  draw->instruction == &rig.rdrand ? &scripted_rdrand.log[from] : &scripted_rdseed.log[from],
                  sizeof(draw->words)) == 0;
}

/* ---- Start-up ---- */

UNIT_TEST("start-up words are not put out")
{
    struct draw draw = rdrand_draw(scripted_good, 0);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_TRUE(drng_noise_has_started(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]));
    CU_ASSERT_EQUAL(scripted_rdrand.words, DRNG_STARTUP_WORDS + COUNT);
    CU_ASSERT_TRUE(holds_log(&draw, DRNG_STARTUP_WORDS));
}

UNIT_TEST("start-up runs once for each reader")
{
    struct draw draw = rdrand_draw(scripted_good, 0);
    struct drng_noise another = {0};
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.words, DRNG_STARTUP_WORDS + 2 * COUNT);
    draw = draw_from(&rig.rdrand, &another);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.words, 2 * DRNG_STARTUP_WORDS + 3 * COUNT);
    CU_ASSERT_TRUE(holds_log(&draw, 2 * DRNG_STARTUP_WORDS + 2 * COUNT));
}

/* What another reader has passed says nothing of the words that this one is given. */
UNIT_TEST("a fresh reader finds a fault that began after the start-up of another")
{
    static scripted_behaviour *const late[] = {scripted_counting, scripted_bit_at_1, scripted_byte_of_two};
    for (size_t i = 0; i < sizeof(late) / sizeof(*late); i++) {
        struct drng_noise fresh = {0};
        struct draw draw = rdrand_draw(scripted_good, 0);
        CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
        scripted_rdrand.behaviour = late[i];
        struct draw child = draw_from(&rig.rdrand, &fresh);
        CU_ASSERT_EQUAL(attempt(&child), DRNG_HEALTH_FAILED);
        CU_ASSERT_EQUAL(child.runs, 0);
        CU_ASSERT_TRUE(rig.rdrand.disabled);
    }
}

UNIT_TEST("each instruction has its own start-up")
{
    struct draw rdrand = rdrand_draw(scripted_good, 0);
    struct draw rdseed = draw_from(&rig.rdseed, &rig.reader.noise[DRNG_RDSEED]);
    CU_ASSERT_EQUAL(attempt(&rdrand), DRNG_OK);
    CU_ASSERT_FALSE(drng_noise_has_started(&rig.rdseed, &rig.reader.noise[DRNG_RDSEED]));
    CU_ASSERT_EQUAL(attempt(&rdseed), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdseed.words, DRNG_STARTUP_WORDS + COUNT);
}

UNIT_TEST("start-up that ran out of time resumes")
{
    struct draw draw = rdrand_draw(scripted_good, 0);
    unsigned attempts = 0;
    scripted_rdrand.ns = SLOW_NS;
    while (!drng_noise_has_started(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]) && attempts < 100) {
        const uint64_t before = scripted_clock_ns;
        const enum drng_result status = attempt(&draw);
        CU_ASSERT_EQUAL(status,
                        drng_noise_has_started(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]) ? DRNG_OK : DRNG_SLOW);
        CU_ASSERT_TRUE(scripted_clock_ns - before <= DRNG_SEED_BUDGET_NS + DRNG_GAP_CAP_NS);
        attempts++;
    }
    CU_ASSERT_TRUE(attempts > 1);
    CU_ASSERT_EQUAL(draw.runs, 1);
    CU_ASSERT_EQUAL(scripted_rdrand.words, DRNG_STARTUP_WORDS + COUNT);
    CU_ASSERT_TRUE(holds_log(&draw, DRNG_STARTUP_WORDS));
}

static uint64_t time_of_a_dry_attempt(struct draw *draw)
{
    const uint64_t before = scripted_clock_ns;
    CU_ASSERT_EQUAL(attempt(draw), DRNG_EXHAUSTED);
    return scripted_clock_ns - before;
}

UNIT_TEST("a starving instruction has more time for its start-up")
{
    const uint64_t a_look = DRNG_SEED_BUDGET_NS / 100;
    const uint64_t first = DRNG_SEED_BUDGET_NS + DRNG_STARTUP_BUDGET_NS;
    rig_set_up(&rig, scripted_dry, scripted_dry);
    struct draw draw = draw_from(&rig.rdseed, &rig.reader.noise[DRNG_RDSEED]);
    const uint64_t taken = time_of_a_dry_attempt(&draw);
    CU_ASSERT_TRUE(taken >= first && taken < first + a_look);

    draw.noise->startup = (struct drng_startup){.words = DRNG_STARTUP_WORDS, .trial = 1};
    const uint64_t later = time_of_a_dry_attempt(&draw);
    CU_ASSERT_TRUE(later >= DRNG_SEED_BUDGET_NS && later < DRNG_SEED_BUDGET_NS + a_look);
}

/* ---- Health failures ---- */

UNIT_TEST("one bad word is forgiven and counted")
{
    for (uint64_t at = DRNG_STARTUP_WORDS; at < DRNG_STARTUP_WORDS + COUNT; at++) {
        struct draw draw = rdrand_draw(scripted_bad_word, at);
        CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
        CU_ASSERT_EQUAL(draw.runs, 2);
        CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 1);
        CU_ASSERT_EQUAL(rig.rdrand.failed_test, DRNG_TEST_REPETITION);
        CU_ASSERT_FALSE(rig.rdrand.disabled);
        /* The tests start afresh, and nothing of the first run is put out. */
        CU_ASSERT_EQUAL(scripted_rdrand.words, at + 1 + DRNG_STARTUP_WORDS + COUNT);
        CU_ASSERT_TRUE(holds_log(&draw, at + 1 + DRNG_STARTUP_WORDS));
    }
}

UNIT_TEST("a bad word of the start-up is forgiven too")
{
    struct draw draw = rdrand_draw(scripted_bad_word, 100);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_EQUAL(draw.runs, 1);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 1);
    CU_ASSERT_TRUE(holds_log(&draw, 101 + DRNG_STARTUP_WORDS));
}

/* One is forgiven, and so are some: the eighth disables. */
UNIT_TEST("failures far apart add up to eight")
{
    struct draw draw = rdrand_draw(scripted_bad_word, DRNG_STARTUP_WORDS + 2);
    for (unsigned i = 1; i <= 8; i++) {
        CU_ASSERT_FALSE(rig.rdrand.disabled);
        CU_ASSERT_EQUAL(attempt(&draw), i < 8 ? DRNG_OK : DRNG_HEALTH_FAILED);
        CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, i);
        scripted_rdrand.at = scripted_rdrand.words + 2;
    }
    CU_ASSERT_TRUE(rig.rdrand.disabled);
}

UNIT_TEST("a second failure disables for good")
{
    struct draw draw = rdrand_draw(scripted_bad_words, DRNG_STARTUP_WORDS + 2);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
    CU_ASSERT_EQUAL(draw.runs, 1);
    CU_ASSERT_TRUE(bytes_are(draw.words, sizeof(draw.words), 0));
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 2);
    CU_ASSERT_EQUAL(rig.family.instructions[DRNG_RDRAND].failures, 2);
    CU_ASSERT_EQUAL(rig.family.instructions[DRNG_RDRAND].disabled, 1);
    CU_ASSERT_TRUE(rig.rdrand.disabled);

    scripted_rdrand.behaviour = scripted_good;
    const uint64_t executions = scripted_rdrand.executions;
    struct drng_noise another = {0};
    struct draw later = draw_from(&rig.rdrand, &another);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_UNAVAILABLE);
    CU_ASSERT_EQUAL(attempt(&later), DRNG_UNAVAILABLE);
    CU_ASSERT_EQUAL(scripted_rdrand.executions, executions);
    CU_ASSERT_EQUAL(draw.runs + later.runs, 1);
}

/* The second failure may come in the work itself: word `at` of the second run, the first having failed at once. */
static bool bad_in_both_runs(struct scripted_instruction *in, uint64_t *word)
{
    const bool bad = in->words == DRNG_STARTUP_WORDS + 1 || in->words == 2 * DRNG_STARTUP_WORDS + in->at;
    return bad ? (*word = in->log[in->log_len - 1], true) : scripted_good(in, word);
}

UNIT_TEST("a failure in the second run disables too")
{
    struct draw draw = rdrand_draw(bad_in_both_runs, COUNT);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
    CU_ASSERT_EQUAL(draw.runs, 2);
    CU_ASSERT_TRUE(bytes_are(draw.words, sizeof(draw.words), 0));
    CU_ASSERT_TRUE(rig.rdrand.disabled);
}

UNIT_TEST("a single zero is a word")
{
    struct draw draw = rdrand_draw(scripted_single_zero, DRNG_STARTUP_WORDS + 3);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_EQUAL(draw.words[3], 0);
    CU_ASSERT_TRUE(holds_log(&draw, DRNG_STARTUP_WORDS));
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 0);
}

/* Its eight bytes are equal, and the tests of bytes make no exception for it: one word in 2^63 costs a second start-up.
 */
UNIT_TEST("a single zero fails the start-up, once")
{
    for (uint64_t at = 0; at < DRNG_STARTUP_WORDS; at++) {
        struct draw draw = rdrand_draw(scripted_single_zero, at);
        CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
        CU_ASSERT_TRUE(holds_log(&draw, at + 1 + DRNG_STARTUP_WORDS));
        CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 1);
        CU_ASSERT_EQUAL(rig.rdrand.failed_test, DRNG_TEST_REPETITION);
    }
}

/* Word `at` is zero, and so is one after the start-up that follows. */
static bool zero_again(struct scripted_instruction *in, uint64_t *word)
{
    const bool good = scripted_good(in, word);
    *word = in->words == in->at || in->words == in->at + 1 + in->which ? 0 : *word;
    return good;
}

UNIT_TEST("the word that failed fails again, wherever it comes")
{
    for (unsigned after = 0; after < DRNG_STARTUP_WORDS + COUNT; after++) {
        struct draw draw = rdrand_draw(zero_again, 100);
        scripted_rdrand.which = after;
        CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
        CU_ASSERT_EQUAL(scripted_rdrand.words, 100 + 2 + after);
    }
}

/* The same with a word that is stale: it comes in the second run of the work as it had come twice in the first. */
static bool stale_in_both_runs(struct scripted_instruction *in, uint64_t *word)
{
    const bool good = scripted_good(in, word);
    const uint64_t n = in->words;
    const bool stale = n == DRNG_STARTUP_WORDS + 1 || n == DRNG_STARTUP_WORDS + 3 || n == DRNG_STARTUP_WORDS + 5 ||
                       n == 2 * DRNG_STARTUP_WORDS + 9;
    *word = stale ? 0x0123456789abcdef : *word;
    return good;
}

UNIT_TEST("a stale word that failed fails when it comes once more")
{
    struct draw draw = rdrand_draw(stale_in_both_runs, 0);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
    CU_ASSERT_EQUAL(draw.runs, 2);
    CU_ASSERT_EQUAL(rig.rdrand.failed_test, DRNG_TEST_PROPORTION);
    CU_ASSERT_EQUAL(scripted_rdrand.words, 2 * DRNG_STARTUP_WORDS + 10);
}

UNIT_TEST("what became of the last attempt is kept")
{
    const struct drng_instruction_counters *counters = &rig.counters.instructions[DRNG_RDRAND];
    struct draw draw = rdrand_draw(scripted_good, 0);
    CU_ASSERT_EQUAL(counters->last_result, DRNG_LAST_NONE);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_EQUAL(counters->last_result, DRNG_LAST_SERVED);
    CU_ASSERT_EQUAL(counters->last_words, DRNG_STARTUP_WORDS + COUNT);
    scripted_rdrand.at = scripted_rdrand.words + 3;
    scripted_rdrand.behaviour = scripted_dry_from;
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_EXHAUSTED);
    CU_ASSERT_EQUAL(counters->last_result, DRNG_LAST_DRY);
    CU_ASSERT_EQUAL(counters->last_words, 3);
    scripted_rdrand.behaviour = scripted_good;
    scripted_rdrand.ns = 2 * DRNG_GAP_CAP_NS;
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_SLOW);
    CU_ASSERT_EQUAL(counters->last_result, DRNG_LAST_SLOW);
    CU_ASSERT_TRUE(counters->last_words > 0 && counters->last_words < COUNT);
    scripted_rdrand.behaviour = scripted_zeros;
    scripted_rdrand.ns = 1;
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
    CU_ASSERT_EQUAL(counters->last_result, DRNG_LAST_FAILED);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_UNAVAILABLE);
    CU_ASSERT_EQUAL(counters->last_result, DRNG_LAST_DISABLED);
}

UNIT_TEST("every dead generator is caught in its start-up")
{
    static const struct {
        scripted_behaviour *behaviour;
        enum drng_health_test failed;
    } dead[] = {
        {scripted_zeros, DRNG_TEST_STUCK},          {scripted_ones, DRNG_TEST_STUCK},
        {scripted_constant, DRNG_TEST_REPETITION},  {scripted_alternating, DRNG_TEST_PROPORTION},
        {scripted_period_64, DRNG_TEST_PROPORTION}, {scripted_counting, DRNG_TEST_REPETITION},
    };
    for (size_t i = 0; i < sizeof(dead) / sizeof(*dead); i++) {
        struct draw draw = rdrand_draw(dead[i].behaviour, 0);
        CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
        CU_ASSERT_EQUAL(draw.runs, 0);
        CU_ASSERT_EQUAL(rig.rdrand.failed_test, dead[i].failed);
        CU_ASSERT_TRUE(rig.rdrand.disabled);
    }
}

/* Bits and bytes that do not do what the others do, whichever they are: no whole word shows it. */
UNIT_TEST("a fault of one bit or byte is caught in its start-up")
{
    static const struct {
        scripted_behaviour *behaviour;
        unsigned count;
    } faults[] = {
        {scripted_bit_at_0, 64}, {scripted_bit_at_1, 64}, {scripted_byte_stuck, 8}, {scripted_byte_of_two, 8}};
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        for (unsigned which = 0; which < faults[i].count; which++) {
            struct draw draw = rdrand_draw(faults[i].behaviour, 0);
            scripted_rdrand.which = which;
            CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
            CU_ASSERT_EQUAL(draw.runs, 0);
            CU_ASSERT_TRUE(rig.rdrand.disabled);
        }
    }
}

/* The windows go on from draw to draw: a bit that sticks later is found, if not by the draw in which it does. */
UNIT_TEST("a bit that sticks later is caught by a later draw")
{
    for (unsigned which = 0; which < 64; which++) {
        struct draw draw = rdrand_draw(which % 2 == 0 ? scripted_bit_at_0 : scripted_bit_at_1, DRNG_STARTUP_WORDS + 3);
        scripted_rdrand.which = which;
        unsigned draws = 0;
        while (draws < 100 && attempt(&draw) == DRNG_OK) {
            draws++;
        }
        CU_ASSERT_TRUE(draws * COUNT <= 2 * DRNG_BITS_WINDOW);
        CU_ASSERT_EQUAL(rig.rdrand.failed_test, DRNG_TEST_BITS);
        CU_ASSERT_TRUE(rig.rdrand.disabled);
    }
}

UNIT_TEST("a failure forgets all that the reader knew")
{
    struct draw draw = rdrand_draw(scripted_bad_words, DRNG_STARTUP_WORDS + 2);
    memset(&rig.reader.noise[DRNG_RDRAND].key, 0x77, sizeof(rig.reader.noise[DRNG_RDRAND].key));
    rig.reader.noise[DRNG_RDRAND].keyed = true;
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_HEALTH_FAILED);
    CU_ASSERT_TRUE(bytes_are(&rig.reader.noise[DRNG_RDRAND], sizeof(rig.reader.noise[DRNG_RDRAND]), 0));
}

/* One reader's failure takes the start-up from all: none relies on words from before it. */
UNIT_TEST("a failure sends every reader through the start-up")
{
    struct drng_noise another = {0};
    struct draw first = rdrand_draw(scripted_good, 0);
    CU_ASSERT_EQUAL(attempt(&first), DRNG_OK);

    /* A failure, and then nothing more. */
    struct draw second = draw_from(&rig.rdrand, &another);
    second.instead = DRNG_HEALTH_FAILED;
    scripted_rdrand.at = scripted_rdrand.words + DRNG_STARTUP_WORDS;
    scripted_rdrand.behaviour = scripted_dry_from;
    CU_ASSERT_EQUAL(attempt(&second), DRNG_EXHAUSTED);
    CU_ASSERT_FALSE(drng_noise_has_started(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]));

    scripted_rdrand.behaviour = scripted_good;
    const uint64_t before = scripted_rdrand.words;
    CU_ASSERT_EQUAL(attempt(&first), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.words - before, DRNG_STARTUP_WORDS + COUNT);
}

/* In the middle of a reader's start-up another one fails, and is left without words. */
static bool fail_another_reader(struct scripted_instruction *cpu, uint64_t *word)
{
    cpu->behaviour = scripted_good;
    (void)atomic_fetch_add(&rig.rdrand.failures, 1);
    return scripted_good(cpu, word);
}

UNIT_TEST("a start-up during which another reader fails does not count")
{
    struct draw draw = rdrand_draw(fail_another_reader, 0);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_FALSE(drng_noise_has_started(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]));
    const uint64_t before = scripted_rdrand.words;
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.words - before, DRNG_STARTUP_WORDS + COUNT);
    CU_ASSERT_TRUE(drng_noise_has_started(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND]));
}

/* The same where it had not passed all of it: no part of a start-up is from before a failure. */
UNIT_TEST("a failure takes a start-up that is under way too")
{
    struct drng_noise another = {0};
    struct draw first = rdrand_draw(scripted_good, 0);
    scripted_rdrand.ns = SLOW_NS;
    CU_ASSERT_EQUAL(attempt(&first), DRNG_SLOW);
    CU_ASSERT_TRUE(rig.reader.noise[DRNG_RDRAND].startup.words > 0);
    scripted_rdrand.ns = 1;

    struct draw second = draw_from(&rig.rdrand, &another);
    second.instead = DRNG_HEALTH_FAILED;
    scripted_rdrand.at = scripted_rdrand.words + DRNG_STARTUP_WORDS;
    scripted_rdrand.behaviour = scripted_dry_from; /* after its start-up, so that it fails, and starts no more */
    CU_ASSERT_EQUAL(attempt(&second), DRNG_EXHAUSTED);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 1);

    scripted_rdrand.behaviour = scripted_good;
    const uint64_t before = scripted_rdrand.words;
    CU_ASSERT_EQUAL(attempt(&first), DRNG_OK);
    CU_ASSERT_EQUAL(scripted_rdrand.words - before, DRNG_STARTUP_WORDS + COUNT);
}

UNIT_TEST("other failures of the work are passed on")
{
    struct draw draw = rdrand_draw(scripted_good, 0);
    draw.instead = DRNG_BAD_LENGTH;
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_BAD_LENGTH);
    CU_ASSERT_EQUAL(draw.runs, 1);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, 0);
    CU_ASSERT_FALSE(rig.rdrand.disabled);
}

UNIT_TEST("running dry does not disable")
{
    struct draw draw = rdrand_draw(scripted_dry, 0);
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_EXHAUSTED);
    CU_ASSERT_FALSE(rig.rdrand.disabled);
    scripted_rdrand.behaviour = scripted_good;
    CU_ASSERT_EQUAL(attempt(&draw), DRNG_OK);
    CU_ASSERT_TRUE(holds_log(&draw, DRNG_STARTUP_WORDS));
}

UNIT_MAIN("noise_attempt")
