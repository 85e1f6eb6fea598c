/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes_arm.c on x86-64: its AESE and AESMC are done with AES-NI. Key schedules, counters, carries and the order of the
 * lanes are the product's own code. On ARM test_aes.c runs it as it is.
 */

#include "tests/unit/aes_cases.h"
#include "tests/unit/unit.h"

#include "mixing/aes/aes_arm.c"

enum {
    MOST = 64,         /* blocks */
    KEY_SCHEDULE = 13, /* executions for a schedule of AES-256 */
    PER_BLOCK = 14,
};

/* Executions of AESE in an AES-256 run of this many blocks, its counter starting after `low`. */
static unsigned long executions_of(size_t blocks, uint64_t low)
{
    static uint8_t out[MOST * DRNG_AES_BLOCK];
    const uint8_t key[DRNG_AES_MAX_KEY] = {0};
    uint8_t v[DRNG_AES_BLOCK] = {0};
    drng_counter_store(v, (struct drng_counter){.low = low});
    const unsigned long before = neon_aese;
    drng_aes_arm.ctr(key, sizeof(key), v, out, blocks, NULL, 0);
    return neon_aese - before;
}

UNIT_TEST("requests take as many lanes as they need")
{
    static const struct {
        size_t blocks;
        unsigned long lanes;
    } sizes[] = {{1, 4},   {4, 4},   {5, 8},   {8, 8},   {9, 12},  {12, 12}, {13, 20},
                 {20, 20}, {21, 24}, {24, 24}, {25, 32}, {32, 32}, {33, 40}, {64, 64}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        CU_ASSERT_EQUAL(executions_of(sizes[i].blocks, 0), KEY_SCHEDULE + PER_BLOCK * sizes[i].lanes);
    }
}

/* A branch there would tell something of V. */
UNIT_TEST("a carry changes no way")
{
    for (size_t blocks = 1; blocks <= MOST; blocks++) {
        CU_ASSERT_EQUAL(executions_of(blocks, UINT64_MAX - blocks + 1), executions_of(blocks, 0));
        CU_ASSERT_EQUAL(executions_of(blocks, UINT64_MAX), executions_of(blocks, 0));
    }
}

UNIT_TEST("it does not fuse")
{
    CU_ASSERT_FALSE(drng_aes_arm.fuses); /* fused_mac_none.c */
    CU_ASSERT_STRING_EQUAL(drng_aes_arm.name, "ARMv8-AES");
}

int main(void)
{
    if (!__builtin_cpu_supports("aes") || !__builtin_cpu_supports("ssse3")) {
        return unit_skipped("this CPU has no AES-NI");
    }
    return aes_cases_run(&drng_aes_arm) | unit_run("lanes of ARM's AES");
}
