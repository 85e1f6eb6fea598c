/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/late_faults.h"

#include <stdlib.h>

#include "tests/scripted/cpu.h"
#include "tests/unit/unit.h"

enum { READERS = 20 };

static const struct {
    const char *name;
    scripted_behaviour *behaviour;
    unsigned least; /* a period or a number of bits: each reader has another one */
    unsigned most;
} faults[] = {
    {"counting: w, w + 1, ...", scripted_counting_on, 0, 0},
    {"a period of 26 to 100 words", scripted_period, 26, 100},
    {"a period of 2 to 64 words", scripted_period, 2, 64},
    {"1 bit stuck", scripted_bits_stuck, 1, 1},
    {"8 bits stuck", scripted_bits_stuck, 8, 8},
    {"32 bits stuck", scripted_bits_stuck, 32, 32},
    {"56 bits stuck", scripted_bits_stuck, 56, 56},
    {"the halves of each byte are equal: 32 bits a word", scripted_nibbles, 0, 0},
};

size_t late_fault_count(void)
{
    return sizeof(faults) / sizeof(*faults);
}

const char *late_fault_name(size_t fault)
{
    return faults[fault].name;
}

void late_fault_begin(size_t fault, unsigned reader)
{
    const unsigned spread = faults[fault].most - faults[fault].least + 1;
    scripted_rdseed.behaviour = faults[fault].behaviour;
    scripted_rdseed.which = faults[fault].least + reader % spread;
    scripted_rdseed.words += (uint64_t)reader * 37;
    scripted_rdseed.state += UINT64_C(0xd1b54a32d192ed03) * (reader + 1);
}

unsigned late_fault_readers(void)
{
    const char *given = getenv("DRNG_FAULT_CHILDREN");
    return given != NULL ? (unsigned)strtoul(given, NULL, 10) : unit_samples() ? 2 : READERS;
}
