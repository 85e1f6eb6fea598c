/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw words in bounded time, whatever the instruction and the clock do.
 *
 * The instruction returns any word, or none, at each execution. The clock returns any time at each look: it jumps,
 * goes back and stands still. A row and a budget are any that are small enough for the loops to be unrolled to their
 * last turn; prove_charge shows what carries over to longer ones: each look leaves less of the budget, by a step that
 * does not depend on how much there is.
 */

#include <string.h>

#include "mixing/entropy/noise.h"
#include "mixing/machine/os.h"
#define OWN_MEMSET
#include "proof.h"

/* A reader is wiped as a whole: byte by byte it takes the prover minutes. */
void *memset(void *data, int value, size_t len)
{
    if (value == 0 && len == sizeof(struct drng_noise)) {
        *(struct drng_noise *)data = (struct drng_noise){0};
        return data;
    }
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)data)[i] = (uint8_t)value;
    }
    return data;
}

enum { MOST_WORDS = 3, MOST_TRIES = 2, MOST_LOOKS = 3 };

/* ---- The machine ---- */

static unsigned executions;
static unsigned looks;
static unsigned words_read;

uint64_t drng_os_clock_ns(void)
{
    looks++;
    return nondet_u64();
}

static bool read_any(uint64_t *word)
{
    const bool read = nondet_bool();
    executions++;
    words_read += read;
    *word = read ? nondet_u64() : 0;
    return read;
}

enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                const uint64_t *known, uint64_t *retries)
{
    CLAIM(known == NULL, "seeds are made of the instruction's words");
    CLAIM(blocks > 0 && blocks <= 64, "a stretch of the fused loop ends at the next look at the clock");
    ANY(*mac);
    ANY(*health);
    *retries += nondet_u8();
    words_read += 2 * (unsigned)blocks;
    return nondet_bool() ? DRNG_OK : nondet_bool() ? DRNG_EXHAUSTED : DRNG_HEALTH_FAILED;
}

static struct drng_instruction_counters counters;
static struct drng_instruction_row row = {.name = "any", .read = read_any};
static struct drng_family_counters family;
static struct drng_instruction instruction = {.row = &row, .counters = &counters, .family = &family};

static void any_machine(void)
{
    row.tries = nondet_unsigned();
    row.starves = nondet_bool();
    row.fused = nondet_bool();
    ASSUME(row.tries >= 1 && row.tries <= MOST_TRIES);
    instruction.disabled = nondet_bool();
    instruction.failures = nondet_unsigned();
    ASSUME(instruction.failures < UINT32_MAX - 2);
}

/* A budget that is not spent when the clock has been looked at MOST_LOOKS times is too large for this harness. */
static struct drng_budget any_small_budget(void)
{
    struct drng_budget budget;
    ANY(budget);
    ASSUME(budget.left_ns <= (uint64_t)MOST_LOOKS * DRNG_LOOK_NS);
    ASSUME(budget.stride >= 1 && budget.stride <= 128 && budget.words >= 1 && budget.words <= budget.stride);
    return budget;
}

static bool is_sound(const struct drng_budget *budget)
{
    return budget->stride >= 1 && budget->stride <= 128 && budget->words >= 1 && budget->words <= budget->stride;
}

/* ---- The budget ---- */

/* One look, from any budget at all, at any time at all. */
void prove_charge(void)
{
    struct drng_budget budget;
    ANY(budget);
    const uint64_t before = budget.left_ns;
    (void)drng_budget_charge(&budget);
    CLAIM(budget.left_ns <= before, "a look never adds to a budget");
    CLAIM(before - budget.left_ns <= DRNG_GAP_CAP_NS, "a clock that jumps takes a millisecond at most");
    CLAIM(budget.left_ns == 0 || before - budget.left_ns >= DRNG_LOOK_NS,
          "each look takes a step towards the end, even if the clock stands still");
    REACHED("a look");
}

/* Words that are counted, from any budget that has a stride. */
void prove_count(void)
{
    struct drng_budget budget;
    ANY(budget);
    ASSUME(is_sound(&budget));
    const struct drng_budget before = budget;
    const unsigned words = nondet_unsigned();
    ASSUME(words >= 1);
    const bool left = drng_budget_count(&budget, words);
    CLAIM(is_sound(&budget), "at most 128 words pass between two looks at the clock");
    CLAIM(left == (budget.left_ns != 0), "the budget is spent, or it is not");
    CLAIM(looks == (words >= before.words ? 1 : 0), "the clock is looked at when the stride is used up");
    REACHED("words");

    const struct drng_budget fresh = drng_budget_of(before.left_ns);
    CLAIM(is_sound(&fresh), "a budget begins with a stride");
}

/* ---- Words ---- */

void prove_read(void)
{
    struct drng_noise noise;
    struct drng_budget budget = any_small_budget();
    uint64_t words[MOST_WORDS + 1];
    const size_t count = at_most(MOST_WORDS);
    any_machine();
    ANY(noise);
    ASSUME(noise.health.tests.rct.run < 2 && noise.health.tests.apt.seen < 2 && noise.health.tests.apt.left < 512 &&
           noise.health.tests.stuck.seen < 2 && noise.health.tests.recurring.seen < DRNG_PRINT_CUTOFF);
    ANY(words);
    const uint64_t behind = words[count];

    const enum drng_result result = drng_noise_read(&instruction, &noise, &budget, words, count);

    CLAIM(words[count] == behind, "nothing is written behind the words");
    CLAIM(result == DRNG_OK || result == DRNG_EXHAUSTED || result == DRNG_SLOW || result == DRNG_HEALTH_FAILED,
          "one of four results");
    CLAIM(result == DRNG_OK || count == 0 || zero_at_any(words, count * sizeof(*words)), "a failure leaves zeros");
    CLAIM(result != DRNG_OK || count < 2 || words[0] != words[1], "words have passed the health tests");
    CLAIM(is_sound(&budget), "the budget stays sound");
    CLAIM(looks <= MOST_LOOKS + 1 + count, "each look at the clock takes a step from the budget, or ends the call");
    CLAIM(executions <= (count + MOST_LOOKS + 1) * MOST_TRIES,
          "as many executions as the tries of words and looks allow");
    CLAIM(counters.retries == executions - words_read, "executions without a word are counted");
    if (result == DRNG_OK) {
        REACHED("words");
    } else if (result == DRNG_EXHAUSTED) {
        REACHED("an instruction that starves");
    } else if (result == DRNG_SLOW) {
        REACHED("words that come too late");
    } else {
        REACHED("a word that fails");
    }
}

void prove_mac(void)
{
    struct drng_noise noise;
    struct drng_budget budget = any_small_budget();
    struct drng_cbc_mac mac;
    const size_t blocks = at_most(3);
    any_machine();
    ANY(noise);
    const enum drng_result result = drng_noise_mac(&instruction, &noise, &budget, &mac, blocks);
    CLAIM(is_sound(&budget), "the budget stays sound");
    CLAIM(words_read <= 2 * blocks, "no more words than were asked for");
    CLAIM(result != DRNG_OK || words_read == 2 * blocks, "all words, or a failure");
    if (result == DRNG_OK) {
        REACHED("all blocks");
    } else {
        REACHED("a failure");
    }
}

/* ---- Attempts ---- */

static unsigned works;
static bool worked_before_start;
static bool worked_with_old_key;
static bool fails_health;

/* All words of the start-up tests since the last failure, said without drng_noise_has_started(). */
static bool has_passed(const struct drng_noise *noise)
{
    return noise->startup.words == DRNG_STARTUP_WORDS && noise->startup.trial == instruction.failures + 1;
}

static enum drng_result any_work(void *arg, struct drng_budget *budget)
{
    struct drng_noise *noise = arg;
    works++;
    worked_before_start |= !has_passed(noise);
    worked_with_old_key |= works > 1 && noise->keyed;
    (void)drng_budget_charge(budget);
    noise->keyed = true;
    const enum drng_result result = nondet_bool() ? DRNG_OK : nondet_bool() ? DRNG_EXHAUSTED : DRNG_HEALTH_FAILED;
    if (result == DRNG_HEALTH_FAILED) {
        fails_health = true;
        noise->health.tests.failed = DRNG_TEST_STUCK;
    }
    return result;
}

/* In the place of drng_health_passes(), whose proofs are health.c's: what noise.c reads of its state. */
bool any_health_passes(struct drng_health *health, uint64_t word)
{
    health->tests.rct.value = word;
    health->tests.failed = (enum drng_health_test)at_most(DRNG_TEST_LANES);
    return nondet_bool();
}

/* A starving instruction has more time for its start-up: a reader that begins with it would need a longer loop. */
void prove_attempt(void)
{
    struct drng_noise noise;
    any_machine();
    ANY(noise);
    ASSUME(noise.startup.words <= DRNG_STARTUP_WORDS);
    ASSUME(!row.starves || has_passed(&noise));
    const bool was_disabled = instruction.disabled;
    const unsigned failures = instruction.failures;
    const uint64_t counted = counters.health_failures;

    const enum drng_result result = drng_noise_attempt(&instruction, &noise, DRNG_LOOK_NS, any_work, &noise);

    CLAIM(!worked_before_start, "no reader works before it has passed the start-up tests");
    CLAIM(!was_disabled || (result == DRNG_UNAVAILABLE && works == 0 && executions == 0),
          "a disabled instruction is not read");
    CLAIM(works <= 2, "work is done again once");
    CLAIM(!worked_with_old_key, "a failure forgets the key of the conditioner");
    CLAIM(instruction.disabled == (was_disabled || result == DRNG_HEALTH_FAILED),
          "a second failure disables the instruction, and nothing else does");
    CLAIM(result != DRNG_HEALTH_FAILED || !has_passed(&noise), "a failure wants the start-up tests anew");
    CLAIM(instruction.failures - failures == counters.health_failures - counted && instruction.failures - failures <= 2,
          "failures are counted, two at the most");
    CLAIM(result != DRNG_HEALTH_FAILED || zero_at_any(&noise, sizeof(noise)), "a failure leaves a reader of zeros");
    CLAIM(result == DRNG_OK || result == DRNG_EXHAUSTED || result == DRNG_SLOW || result == DRNG_HEALTH_FAILED ||
              result == DRNG_UNAVAILABLE,
          "one of five results");
    CLAIM(family.failures == instruction.failures - failures &&
              family.disabled == (!was_disabled && instruction.disabled),
          "the family counts the same");
    CLAIM(family.slow == (result == DRNG_SLOW), "and that the instruction was too slow");
    CLAIM(counters.last_result == (result == DRNG_OK              ? DRNG_LAST_SERVED
                                   : result == DRNG_EXHAUSTED     ? DRNG_LAST_DRY
                                   : result == DRNG_SLOW          ? DRNG_LAST_SLOW
                                   : result == DRNG_HEALTH_FAILED ? DRNG_LAST_FAILED
                                                                  : DRNG_LAST_DISABLED),
          "the result is kept");
    if (result == DRNG_OK) {
        REACHED("work");
    } else if (result == DRNG_UNAVAILABLE) {
        REACHED("a disabled instruction");
    } else {
        REACHED("a failure");
    }
}
