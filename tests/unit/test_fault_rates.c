/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that are zeros, ones or stale now and then, in any rhythm, on either instruction: it is disabled in every
 * trial. DRNG_FAULT_RATES names a file for the result as a table; DRNG_FAULT_TRIALS says how many trials there are of
 * each.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { SEED_LEN = 48, MOST_SEEDS = 500, TRIALS = 50 };

static struct rig rig;
/* ---- The faults ---- */

/* What the fault of this trial knows: a generator of its own, and the words that it may give again. */
static struct {
    uint64_t state;
    uint64_t stale[64]; /* words from before the fault */
    uint64_t last[64];  /* the last ones given, by their number */
    uint64_t bad;       /* words that were given again, or are zeros or ones */
    bool was_bad;       /* the last word */
} now;

static uint64_t coin(void)
{
    now.state += 0x9e3779b97f4a7c15;
    uint64_t z = now.state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static bool one_in(unsigned n)
{
    return coin() % n == 0;
}

/* Gives `bad` if `is`, else a good word. */
static bool give(struct scripted_instruction *in, uint64_t *word, bool is, uint64_t bad)
{
    (void)scripted_good(in, word);
    *word = is ? bad : *word;
    now.bad += is;
    now.was_bad = is;
    now.last[in->words % 64] = *word;
    return true;
}

static bool zeros_in_turn(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, in->words % 2 == 1, 0);
}

static bool zeros_at_random(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, !now.was_bad && one_in(in->which), 0);
}

static bool ones_at_random(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, !now.was_bad && one_in(in->which), UINT64_MAX);
}

static bool stale_in_turn(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, in->words % (in->which + 1) != in->at % (in->which + 1),
                now.stale[in->words % (in->which + 1)]);
}

static bool stale_at_random(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, one_in(in->which), now.stale[0]);
}

static bool stale_every(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, in->words % in->which == in->at % in->which, now.stale[0]);
}

/* A B A B C D C D */
static bool twice(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, in->words % 4 >= 2, now.last[(in->words - 2) % 64]);
}

static bool last_again(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, in->words > 0 && one_in(in->which), now.last[(in->words - 1) % 64]);
}

static bool any_of_64_again(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, in->words > 64 && one_in(in->which), now.last[coin() % 64]);
}

static bool period(struct scripted_instruction *in, uint64_t *word)
{
    return give(in, word, in->words >= in->which, now.last[(in->words - in->which) % 64]);
}

static const struct {
    const char *name;
    scripted_behaviour *behaviour;
    unsigned which; /* 0: a length from 2 to 64, another for each trial */
} faults[] = {
    {"every second word 0", zeros_in_turn, 0},
    {"zeros at random, 1 word in 2, never two in a row", zeros_at_random, 2},
    {"the same, 1 in 4", zeros_at_random, 4},
    {"the same, 1 in 8", zeros_at_random, 8},
    {"the same, 1 in 250", zeros_at_random, 250},
    {"ones at random, 1 in 250", ones_at_random, 250},
    {"one good word and one stale in turn", stale_in_turn, 1},
    {"one good word and three stale in turn", stale_in_turn, 3},
    {"a stale word at random, 1 in 8", stale_at_random, 8},
    {"the same, 1 in 250", stale_at_random, 250},
    {"a stale word every 64 words", stale_every, 64},
    {"each word twice, two apart (A B A B C D C D)", twice, 0},
    {"the last word again, 1 in 250", last_again, 250},
    {"any of the last 64 again, 1 in 64", any_of_64_again, 64},
    {"the same, 1 in 250", any_of_64_again, 250},
    {"a period of 2 to 64 words", period, 0},
};

/* ---- Trials ---- */

/* What came of all trials of one fault. */
struct sum {
    unsigned disabled;
    unsigned in_one_seed;
    uint64_t most_words; /* of the fault's, before the instruction was disabled */
    unsigned tests[DRNG_TEST_LANES + 1];
};

/* The fault begins with word `at`: the first, or one in use. */
static void try(unsigned fault, unsigned instruction, unsigned trial, struct sum *sum)
{
    const unsigned in_use = trial % 2;
    uint8_t seed[SEED_LEN];
    rig_set_up(&rig, scripted_good, scripted_good);
    rig_take_way(&rig, &rig_ways[rig_way_count() - 1]);
    rig.policy.instructions[1 - instruction] = NULL;
    rig.policy.fallback = NULL;
    struct scripted_instruction *cpu = instruction == DRNG_RDSEED ? &scripted_rdseed : &scripted_rdrand;
    struct drng_instruction *in = instruction == DRNG_RDSEED ? &rig.rdseed : &rig.rdrand;
    cpu->state = UINT64_C(0xd1b54a32d192ed03) * (trial + 1);
    memset(&now, 0, sizeof(now));
    now.state = ~cpu->state;
    for (unsigned i = 0; i < 64; i++) {
        now.stale[i] = coin();
    }
    for (unsigned i = 0; i < in_use * (1 + trial % 7); i++) {
        CU_ASSERT_EQUAL(rig_seed(&rig, seed, SEED_LEN), DRNG_OK);
    }
    const uint64_t from = cpu->words;
    cpu->at = from + trial / 2 % 64; /* the phase of what comes in turn */
    cpu->which = faults[fault].which != 0 ? faults[fault].which : 2 + trial % 63;
    for (unsigned i = 0; i < 64; i++) {
        now.last[(from + i) % 64] = coin();
    }
    cpu->behaviour = faults[fault].behaviour;
    unsigned seeds = 0;
    while (seeds < MOST_SEEDS && !in->disabled) {
        (void)rig_seed(&rig, seed, SEED_LEN);
        seeds++;
    }
    const uint64_t words = cpu->words - from;
    sum->disabled += in->disabled != 0;
    sum->in_one_seed += in->disabled && seeds == 1;
    sum->most_words = words > sum->most_words ? words : sum->most_words;
    sum->tests[in->failed_test]++;
}

static const char *test_of(const struct sum *sum)
{
    unsigned most = 0;
    for (unsigned i = 0; i <= DRNG_TEST_LANES; i++) {
        most = sum->tests[i] > sum->tests[most] ? i : most;
    }
    return drng_health_test_name((enum drng_health_test)most);
}

static void try_all(unsigned instruction)
{
    const char *given = getenv("DRNG_FAULT_TRIALS");
    const unsigned trials = given != NULL ? (unsigned)strtoul(given, NULL, 10) : unit_samples() ? 2 : TRIALS;
    for (unsigned fault = 0; fault < sizeof(faults) / sizeof(*faults); fault++) {
        struct sum sum = {0};
        for (unsigned trial = 0; trial < trials; trial++) {
            try(fault, instruction, trial, &sum);
        }
        if (sum.disabled != trials) {
            (void)printf("\n    %s on %s: disabled in %u of %u", faults[fault].name,
                         drng_instruction_rows[instruction].name, sum.disabled, trials);
        }
        CU_ASSERT_EQUAL(sum.disabled, trials);
        if (unit_table != NULL) {
            (void)fprintf(unit_table, "| %s | %s | %u of %u | %u | %" PRIu64 " | %s |\n", faults[fault].name,
                          drng_instruction_rows[instruction].name, sum.disabled, trials, sum.in_one_seed,
                          sum.most_words, test_of(&sum));
        }
    }
}

UNIT_TEST("RDRAND is disabled in every trial")
{
    try_all(DRNG_RDRAND);
}

UNIT_TEST("RDSEED is disabled in every trial")
{
    try_all(DRNG_RDSEED);
}

int main(void)
{
    return unit_run_table("fault_rates", "DRNG_FAULT_RATES",
                          "| fault | on | disabled | within one seed | words, at most | last found by |\n"
                          "| --- | --- | --- | --- | --- | --- |\n");
}
