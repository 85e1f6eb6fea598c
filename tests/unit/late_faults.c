/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/late_faults.h"

#include "tests/scripted/cpu.h"
#include "tests/unit/unit.h"

enum { READERS = 20 };

/* tests/scripted/cpu.h says what each of them gives. */
static const struct {
    scripted_behaviour *behaviour;
    unsigned least; /* a period or a number of bits: each reader has another one */
    unsigned most;
} faults[] = {
    {scripted_counting_on, 0, 0},  {scripted_period, 26, 100},  {scripted_period, 2, 64},
    {scripted_bits_stuck, 1, 1},   {scripted_bits_stuck, 8, 8}, {scripted_bits_stuck, 32, 32},
    {scripted_bits_stuck, 56, 56}, {scripted_nibbles, 0, 0},
};

size_t late_fault_count(void)
{
    return sizeof(faults) / sizeof(*faults);
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
    return unit_samples() ? 2 : READERS;
}
