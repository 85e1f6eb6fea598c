/* SPDX-License-Identifier: Apache-2.0 */
/*
 * false_alarms.c - passes words of this machine's own instruction through the health tests, and counts the alarms.
 *
 *     false_alarms rdrand|rdseed WORDS
 *
 * The tests begin afresh after an alarm. Exit status 1: there was one; 77: this CPU has no such instruction.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/entropy/health.h"
#include "mixing/machine/cpu.h"

int main(int argc, char **argv)
{
    struct drng_health health = {0};
    struct drng_cpu cpu;
    uint64_t alarms[DRNG_TEST_LANES + 1] = {0};
    uint64_t all = 0;
    unsigned instruction = 0;
    if (argc != 3) {
        (void)fprintf(stderr, "usage: false_alarms rdrand|rdseed WORDS\n");
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
    const uint64_t words = strtoull(argv[2], NULL, 0);
    for (uint64_t i = 0; i < words;) {
        uint64_t word = 0;
        if (!drng_instruction_rows[instruction].read(&word)) {
            drng_pause();
        } else if (i++, !drng_health_passes(&health, word)) {
            alarms[health.tests.failed]++;
            all++;
            health = (struct drng_health){0};
        }
    }
    (void)printf("%s: %" PRIu64 " alarms in %" PRIu64 " words\n", argv[1], all, words);
    for (unsigned i = 0; i <= DRNG_TEST_LANES; i++) {
        if (alarms[i] > 0) {
            (void)printf("    %s: %" PRIu64 "\n", drng_health_test_name((enum drng_health_test)i), alarms[i]);
        }
    }
    return all > 0;
}
