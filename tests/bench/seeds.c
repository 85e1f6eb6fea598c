/* SPDX-License-Identifier: Apache-2.0 */
#include "mixing/drbg/self_test.h"
#include "mixing/entropy/seed.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/wipe.h"
#include "tests/bench/peers.h"

enum {
    SEED_LEN = 48, /* bytes: 384 bits, what a CTR_DRBG with AES-256 asks for */
    BLOCKS = SEED_LEN / DRNG_CONDITIONED_LEN,
};

static size_t words_of(unsigned instruction)
{
    return BLOCKS * drng_instruction_rows[instruction].window_words;
}

/* ---- As drng makes them, kernel bytes included ---- */

static struct drng_counters counters;
static struct drng_family family;
static struct drng_instruction instructions[DRNG_INSTRUCTIONS];
static struct drng_seed_policy policy = {.os_mixing = true, .counters = &counters};
static struct drng_seed_reader reader;

static bool seed_from(unsigned instruction)
{
    uint8_t seed[SEED_LEN];
    struct drng_seed_outcome served;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        policy.instructions[i] = i == instruction ? &instructions[i] : NULL;
    }
    const bool got = drng_seed_get(&policy, &reader, seed, sizeof(seed), &served) == DRNG_OK;
    drng_wipe(seed, sizeof(seed));
    return got;
}

/* ---- The instructions alone ---- */

/* With the pause between tries that drng makes too: without it they only take longer to succeed. */
static bool execute(unsigned instruction)
{
    const struct drng_instruction_row *row = &drng_instruction_rows[instruction];
    uint64_t word = 0;
    for (size_t words = 0; words < words_of(instruction);) {
        if (row->read(&word)) {
            words++;
        } else {
            drng_pause();
        }
    }
    return true;
}

_Static_assert((int)DRNG_INSTRUCTIONS <= (int)BENCH_MAX_SEEDS, "there are more instructions");

size_t bench_seeds(struct bench_seed seeds[BENCH_MAX_SEEDS])
{
    const char *what = NULL;
    struct drng_cpu cpu;
    size_t count = 0;
    drng_cpu_identify(&cpu);
    policy.aes = drng_self_test_choose(&cpu, &what);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS && policy.aes != NULL; i++) {
        instructions[i] = (struct drng_instruction){
            .row = &drng_instruction_rows[i], .counters = &counters.instructions[i], .family = &family.instructions[i]};
        if (cpu.has[i]) {
            seeds[count++] = (struct bench_seed){drng_instruction_flag(i), i, words_of(i), seed_from, execute};
        }
    }
    return count;
}
