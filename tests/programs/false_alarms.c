/* SPDX-License-Identifier: Apache-2.0 */
/*
 * false_alarms.c - passes good words through the health tests, and counts the alarms.
 *
 *     false_alarms rdrand|rdseed|ctr-drbg WORDS [START-UPS]
 *
 * The words are those of this machine's own instruction, or of drng's CTR_DRBG, which gives more of them in the time,
 * and the same on every machine. The tests begin afresh after an alarm, and with each start-up, as those of a fresh
 * reader do. Exit status 1: there was an alarm; 77: this CPU has no such instruction.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/health.h"
#include "mixing/machine/cpu.h"

static const struct drng_bytes none = {NULL, 0};
static const char *name;
static const struct drng_instruction_row *row;
static struct drng_ctr_drbg drbg;

static uint64_t word_of_instruction(void)
{
    uint64_t word = 0;
    while (!row->read(&word)) {
        drng_pause();
    }
    return word;
}

static uint64_t word_of_drbg(void)
{
    static uint64_t words[DRNG_DRBG_MAX_REQUEST / sizeof(uint64_t)];
    static size_t given;
    if (given == 0 && drng_ctr_drbg_generate(&drbg, (uint8_t *)words, sizeof(words), none, NULL) != DRNG_OK) {
        abort();
    }
    const uint64_t word = words[given];
    given = (given + 1) % (sizeof(words) / sizeof(*words));
    return word;
}

static uint64_t (*next_word)(void) = word_of_instruction;

static bool word_passes(struct drng_health *health)
{
    return drng_health_passes(health, next_word());
}

static bool startup_passes(struct drng_health *health)
{
    struct drng_startup startup = {0};
    bool passed = true;
    *health = (struct drng_health){0};
    while (passed && startup.words < DRNG_STARTUP_WORDS) {
        const uint64_t word = next_word();
        passed = drng_health_passes(health, word) && drng_startup_passes(&startup, word, &health->tests.failed);
    }
    return passed;
}

/* How many alarms there are in so many trials; prints a row of a table, with the tests that they are of. */
static uint64_t count_alarms(const char *what, uint64_t trials, bool (*passes)(struct drng_health *health))
{
    struct drng_health health = {0};
    uint64_t alarms[DRNG_TEST_LANES + 1] = {0};
    uint64_t all = 0;
    for (uint64_t i = 0; i < trials; i++) {
        if (!passes(&health)) {
            alarms[health.tests.failed]++;
            all++;
            health = (struct drng_health){0};
        }
    }
    (void)printf("| %s | %s | %" PRIu64 " | %" PRIu64, name, what, trials, all);
    for (unsigned i = 0; i <= DRNG_TEST_LANES; i++) {
        if (alarms[i] > 0) {
            (void)printf("; %s %" PRIu64, drng_health_test_name((enum drng_health_test)i), alarms[i]);
        }
    }
    (void)printf(" |\n");
    return all;
}

/* 0; or the exit status, where this machine has no such words. */
static int open_instruction(const struct drng_cpu *cpu, const char *flag)
{
    unsigned instruction = 0;
    while (instruction < DRNG_INSTRUCTIONS && strcmp(flag, drng_instruction_flag(instruction)) != 0) {
        instruction++;
    }
    if (instruction == DRNG_INSTRUCTIONS || !cpu->has[instruction]) {
        (void)printf("this CPU has no %s\n", flag);
        return 77;
    }
    row = &drng_instruction_rows[instruction];
    name = row->name;
    return 0;
}

/* From a seed of zeros, so that a run can be repeated. */
static int open_drbg(const struct drng_cpu *cpu)
{
    static const uint8_t zeros[DRNG_AES_MAX_KEY];
    const struct drng_aes *all[DRNG_AES_KINDS];
    const size_t count = drng_aes_all(cpu, all);
    next_word = word_of_drbg;
    name = "CTR_DRBG";
    return drng_ctr_drbg_instantiate(&drbg, all[count - 1], sizeof(zeros), true,
                                     (struct drng_bytes){zeros, sizeof(zeros)}, none, none, 0) != DRNG_OK;
}

int main(int argc, char **argv)
{
    struct drng_cpu cpu;
    if (argc != 3 && argc != 4) {
        (void)fprintf(stderr, "usage: false_alarms rdrand|rdseed|ctr-drbg WORDS [START-UPS]\n");
        return 2;
    }
    drng_cpu_identify(&cpu);
    const int status = strcmp(argv[1], "ctr-drbg") == 0 ? open_drbg(&cpu) : open_instruction(&cpu, argv[1]);
    if (status != 0) {
        return status;
    }
    const uint64_t of_words = count_alarms("words", strtoull(argv[2], NULL, 0), word_passes);
    const uint64_t of_startups = count_alarms("start-ups", argc > 3 ? strtoull(argv[3], NULL, 0) : 0, startup_passes);
    return of_words + of_startups > 0;
}
