/* SPDX-License-Identifier: Apache-2.0 */
/*
 * false_alarms.c - passes words of this machine's own instruction through the health tests, and counts the alarms.
 *
 *     false_alarms rdrand|rdseed WORDS [START-UPS]
 *
 * The tests begin afresh after an alarm, and with each start-up, as those of a fresh reader do. Exit status 1: there
 * was an alarm; 77: this CPU has no such instruction.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/entropy/health.h"
#include "mixing/machine/cpu.h"

static const struct drng_instruction_row *row;

static uint64_t next_word(void)
{
    uint64_t word = 0;
    while (!row->read(&word)) {
        drng_pause();
    }
    return word;
}

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

/* How many alarms there are in so many trials; prints which tests they are of. */
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
    (void)printf("%s: %" PRIu64 " alarms in %" PRIu64 " %s\n", row->name, all, trials, what);
    for (unsigned i = 0; i <= DRNG_TEST_LANES; i++) {
        if (alarms[i] > 0) {
            (void)printf("    %s: %" PRIu64 "\n", drng_health_test_name((enum drng_health_test)i), alarms[i]);
        }
    }
    return all;
}

int main(int argc, char **argv)
{
    struct drng_cpu cpu;
    unsigned instruction = 0;
    if (argc != 3 && argc != 4) {
        (void)fprintf(stderr, "usage: false_alarms rdrand|rdseed WORDS [START-UPS]\n");
        return 2;
    }
    while (instruction < DRNG_INSTRUCTIONS && strcmp(argv[1], drng_instruction_flag(instruction)) != 0) {
        instruction++;
    }
    drng_cpu_identify(&cpu);
    if (instruction == DRNG_INSTRUCTIONS || !cpu.has[instruction]) {
        (void)printf("this CPU has no %s\n", argv[1]);
        return 77;
    }
    row = &drng_instruction_rows[instruction];
    const uint64_t of_words = count_alarms("words", strtoull(argv[2], NULL, 0), word_passes);
    const uint64_t of_startups = count_alarms("start-ups", argc > 3 ? strtoull(argv[3], NULL, 0) : 0, startup_passes);
    return of_words + of_startups > 0;
}
