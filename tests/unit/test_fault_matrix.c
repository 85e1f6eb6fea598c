/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that is known to go wrong with the two instructions, on either and on both, with and without a
 * fallback: who serves, what is counted, what is disabled, how long it takes, and that nothing of a bad source is
 * put out.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/faults.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { SEED_LEN = FAULTS_SEED_LEN, TAKEN_BEFORE = 0xaa, LIMIT_NS = FAULTS_LIMIT_NS };

static const struct outcome serves = {.serves = true};
static const struct outcome dries_up = {.serves = false};
static const struct outcome disabled = {.health_failures = 2, .disabled = true};

/* Where the fault is, and what the other instruction does meanwhile. */
struct pairing {
    const char *name;
    bool rdseed_allowed;
    bool rdseed_faulty;
    bool rdrand_faulty;
    scripted_behaviour *rdseed; /* where it is not faulty */
};

static const struct pairing pairings[] = {
    {"faulty / good", true, true, false, NULL},        {"not allowed / faulty", false, false, true, scripted_good},
    {"dry / faulty", true, false, true, scripted_dry}, {"constant / faulty", true, false, true, scripted_constant},
    {"faulty / faulty", true, true, true, NULL},
};

/* One case of the matrix. */
struct trial {
    const struct fault *fault;
    unsigned which; /* bit or byte */
    const struct pairing *pairing;
    const struct rig_way *way;
    bool fallback;
    /* what came of it */
    enum drng_result status;
    uint64_t taken_ns;
    uint8_t out[SEED_LEN];
};

static struct rig rig;
/* What most machines do. */
static const struct rig_way *usual_way(void)
{
    return &rig_ways[rig_way_count() - 1];
}

/* ---- Setting up ---- */

/* Draws seeds from one instruction alone until the next one would go past `words`. */
static void wear(struct drng_instruction *instruction, const struct scripted_instruction *cpu, size_t window,
                 uint64_t words)
{
    const struct drng_seed_policy whole = rig.policy;
    uint8_t seed[SEED_LEN];
    rig_take_way(&rig, usual_way()); /* the fastest: a million words are to be worn off */
    rig.policy.instructions[DRNG_RDSEED] = instruction == &rig.rdseed ? instruction : NULL;
    rig.policy.instructions[DRNG_RDRAND] = instruction == &rig.rdrand ? instruction : NULL;
    rig.policy.fallback = NULL;
    bool served = true;
    while (served && cpu->words + rig_words_of(window, SEED_LEN) <= words) {
        served = rig_seed(&rig, seed, SEED_LEN) == DRNG_OK;
    }
    CU_ASSERT_TRUE(served);
    rig.policy = whole;
}

static scripted_behaviour *rdseed_of(const struct trial *trial)
{
    return trial->pairing->rdseed_faulty ? trial->fault->behaviour : trial->pairing->rdseed;
}

static void set_up(const struct trial *trial)
{
    const struct fault *fault = trial->fault;
    const struct pairing *pairing = trial->pairing;
    rig_set_up(&rig, rdseed_of(trial), pairing->rdrand_faulty ? fault->behaviour : scripted_good);
    rig_take_way(&rig, trial->way);
    scripted_rdseed.at = fault->starving_at;
    scripted_rdrand.at = fault->steady_at;
    scripted_rdseed.which = scripted_rdrand.which = trial->which;
    if (pairing->rdseed_faulty) {
        wear(&rig.rdseed, &scripted_rdseed, DRNG_RDSEED_WORDS, fault->wear);
        scripted_rdseed.ns = fault->slow_ns != 0 ? fault->slow_ns : scripted_rdseed.ns;
    }
    if (pairing->rdrand_faulty) {
        wear(&rig.rdrand, &scripted_rdrand, DRNG_RDRAND_WORDS, fault->wear);
        scripted_rdrand.ns = fault->slow_ns != 0 ? fault->slow_ns : scripted_rdrand.ns;
    }
    if (!pairing->rdseed_allowed) {
        rig.policy.instructions[DRNG_RDSEED] = NULL;
    }
    if (!trial->fallback) {
        rig.policy.fallback = NULL;
    }
}

static void run(struct trial *trial)
{
    const uint64_t before = scripted_clock_ns;
    memset(trial->out, TAKEN_BEFORE, sizeof(trial->out));
    trial->status = rig_seed(&rig, trial->out, sizeof(trial->out));
    trial->taken_ns = scripted_clock_ns - before;
}

/* ---- What is expected ---- */

static struct outcome expected_of_rdseed(const struct trial *trial)
{
    if (!trial->pairing->rdseed_allowed) {
        return dries_up;
    }
    if (trial->pairing->rdseed_faulty) {
        return *trial->fault->if_starving;
    }
    return trial->pairing->rdseed == scripted_dry ? dries_up : disabled;
}

/* RDRAND is asked only where RDSEED does not serve. */
static struct outcome expected_of_rdrand(const struct trial *trial)
{
    const struct outcome unasked = {.serves = false};
    if (expected_of_rdseed(trial).serves) {
        return unasked;
    }
    return trial->pairing->rdrand_faulty ? *trial->fault->if_steady : serves;
}

static enum drng_source expected_source(const struct trial *trial)
{
    if (expected_of_rdseed(trial).serves) {
        return SCRIPTED_SOURCE_RDSEED;
    }
    if (expected_of_rdrand(trial).serves) {
        return SCRIPTED_SOURCE_RDRAND;
    }
    return trial->fallback ? DRNG_SOURCE_FALLBACK : DRNG_SOURCE_NONE;
}

/* Whether the instruction's log holds these two words side by side. */
static bool was_given(const struct scripted_instruction *cpu, const uint64_t key[RIG_KEY_WORDS])
{
    for (size_t i = 0; i + 1 < cpu->log_len; i++) {
        if (memcmp(&cpu->log[i], key, RIG_KEY_WORDS * sizeof(*key)) == 0) {
            return true;
        }
    }
    return false;
}

/* The last words that the source gave, conditioned under a key of its own: what it would have given alone. */
static bool is_seed_of(const struct trial *trial, const struct scripted_instruction *cpu,
                       const struct drng_noise *noise, size_t window)
{
    const size_t count = rig_words_of(window, SEED_LEN);
    uint64_t key[RIG_KEY_WORDS];
    uint8_t seed[SEED_LEN];
    if (cpu->log_len < count || cpu->log_len != cpu->words) {
        return false;
    }
    memcpy(key, noise->key, sizeof(key));
    return was_given(cpu, key) &&
           rig_condition(trial->way->conditioner, key, &cpu->log[cpu->log_len - count], window, seed, SEED_LEN) &&
           memcmp(seed, trial->out, SEED_LEN) == 0;
}

static bool output_is_of(const struct trial *trial, enum drng_source source)
{
    if (source == SCRIPTED_SOURCE_RDSEED) {
        return is_seed_of(trial, &scripted_rdseed, &rig.reader.noise[DRNG_RDSEED], DRNG_RDSEED_WORDS);
    }
    if (source == SCRIPTED_SOURCE_RDRAND) {
        return is_seed_of(trial, &scripted_rdrand, &rig.reader.noise[DRNG_RDRAND], DRNG_RDRAND_WORDS);
    }
    return bytes_are(trial->out, SEED_LEN, source == DRNG_SOURCE_FALLBACK ? RIG_FALLBACK_BYTE : 0);
}

/* ---- Judging ---- */

static void judge(const struct trial *trial)
{
    const struct outcome rdseed = expected_of_rdseed(trial);
    const struct outcome rdrand = expected_of_rdrand(trial);
    const enum drng_source source = expected_source(trial);
    CU_ASSERT_EQUAL(trial->status, source != DRNG_SOURCE_NONE ? DRNG_OK : DRNG_NO_FALLBACK);
    CU_ASSERT_EQUAL(rig.counters.source, source);
    CU_ASSERT_EQUAL(rig.counters.seed_failures, source == DRNG_SOURCE_NONE);
    CU_ASSERT_EQUAL(rig.counters.seeds_fallback, source == DRNG_SOURCE_FALLBACK);
    CU_ASSERT_EQUAL(rig.fallback_calls, source == DRNG_SOURCE_FALLBACK);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDSEED].health_failures, rdseed.health_failures);
    CU_ASSERT_EQUAL(rig.rdseed.disabled, rdseed.disabled);
    CU_ASSERT_EQUAL(rig.counters.instructions[DRNG_RDRAND].health_failures, rdrand.health_failures);
    CU_ASSERT_EQUAL(rig.rdrand.disabled, rdrand.disabled);
    CU_ASSERT_TRUE(trial->taken_ns < LIMIT_NS);
    CU_ASSERT_TRUE(output_is_of(trial, source));
}

/* The number of the line does not say which case it was. */
static void judge_and_name(const struct trial *trial)
{
    const unsigned before = CU_get_number_of_failures();
    judge(trial);
    if (CU_get_number_of_failures() != before) {
        (void)fprintf(stderr, "\n    wrong: %s (%u) | %s | %s | %s fallback | %" PRIu64 " us\n", trial->fault->name,
                      trial->which, trial->pairing->name, trial->way->name, trial->fallback ? "with" : "without",
                      trial->taken_ns / 1000);
    }
}

/* ---- Every fault on every pairing ---- */

static void try_case(struct trial trial)
{
    set_up(&trial);
    run(&trial);
    judge_and_name(&trial);
}

/* Every bit or byte on the way that most machines take; on the others, whose tests are the same, three of them. */
static void try_kinds(const struct fault *fault, const struct pairing *pairing, const struct rig_way *way,
                      bool fallback)
{
    const unsigned kinds = fault->kinds > 0 ? fault->kinds : 1;
    const unsigned step = way == usual_way() || kinds == 1 ? 1 : (kinds - 1) / 2;
    for (unsigned which = 0; which < kinds; which += step) {
        try_case((struct trial){.fault = fault, .which = which, .pairing = pairing, .way = way, .fallback = fallback});
    }
}

static void try_all(const struct rig_way *way, bool fallback)
{
    const size_t pairing_count = sizeof(pairings) / sizeof(*pairings);
    for (size_t i = 0; faults[i / pairing_count].name != NULL; i++) {
        const struct fault *fault = &faults[i / pairing_count];
        const struct pairing *pairing = &pairings[i % pairing_count];
        const bool possible = fault->if_steady != NULL || !pairing->rdrand_faulty;
        /* A million words take their time, and are worn off alike for all. */
        if (possible && (fault->wear < FAULTS_MILLION || way == usual_way())) {
            try_kinds(fault, pairing, way, fallback);
        }
    }
}

UNIT_TEST("faults with a fallback")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        try_all(&rig_ways[i], true);
    }
}

UNIT_TEST("faults without a fallback")
{
    for (size_t i = 0; i < rig_way_count(); i++) {
        try_all(&rig_ways[i], false);
    }
}

int main(void)
{
    return unit_run("fault_matrix");
}
