/* SPDX-License-Identifier: Apache-2.0 */
/* Every implementation of AES that this CPU can run; and whether the cases see one that is wrong. */

#include <stdlib.h>
#include <string.h>

#include "tests/unit/aes_cases.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fake_aes.h"
#include "tests/unit/reference.h"
#include "tests/unit/unit.h"

/* ---- Implementations with a fault, which the cases must see ---- */

static bool faulty_ctr_is_seen(const struct drng_aes *aes, unsigned bits)
{
    struct aes_ctr_run run = {.key_len = 32, .out_blocks = 70, .tail_blocks = 3};
    reference_before_carry(run.v, bits, 20);
    aes_cases_about(&drng_aes_portable);
    const bool right = aes_ctr_is_right(&run);
    aes_cases_about(aes);
    return right && !aes_ctr_is_right(&run);
}

static bool faulty_cbc_is_seen(const struct drng_aes *aes, bool without_out)
{
    const struct aes_cbc_run run = {.key_len = 16, .blocks = 5, .without_out = without_out};
    aes_cases_about(&drng_aes_portable);
    const bool right = aes_cbc_is_right(&run);
    aes_cases_about(aes);
    return right && !aes_cbc_is_right(&run);
}

UNIT_TEST("a flipped bit is seen")
{
    fake_aes_script = (struct fake_aes_script){.flips_at = 1};
    CU_ASSERT_TRUE(faulty_ctr_is_seen(&fake_aes, 32));
    fake_aes_script = (struct fake_aes_script){.flips_at = 1};
    CU_ASSERT_TRUE(faulty_cbc_is_seen(&fake_aes, false));
    fake_aes_script = (struct fake_aes_script){.flips_at = 1};
    CU_ASSERT_TRUE(faulty_cbc_is_seen(&fake_aes, true));
}

static void counts_in_64_bits(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                              size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    for (size_t i = 0; i < out_blocks + tail_blocks; i++) {
        uint8_t high[8];
        memcpy(high, v, sizeof(high));
        reference_increment(v);
        memcpy(v, high, sizeof(high));
        uint8_t *to = i < out_blocks ? out + i * DRNG_AES_BLOCK : tail + (i - out_blocks) * DRNG_AES_BLOCK;
        reference_encrypt(key, key_len, v, to);
    }
}

UNIT_TEST("a lost carry is seen")
{
    const struct drng_aes faulty = {.name = "64-bit counter", .ctr = counts_in_64_bits};
    CU_ASSERT_TRUE(faulty_ctr_is_seen(&faulty, 64));
    CU_ASSERT_FALSE(faulty_ctr_is_seen(&faulty, 32));
}

static void writes_a_byte_too_many(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                                   size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    out[out_blocks * DRNG_AES_BLOCK] = 0;
    drng_aes_portable.ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
}

UNIT_TEST("a byte too many is seen")
{
    const struct drng_aes faulty = {.name = "overrun", .ctr = writes_a_byte_too_many};
    CU_ASSERT_TRUE(faulty_ctr_is_seen(&faulty, 32));
}

static void keeps_the_counter(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                              size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    uint8_t copy[DRNG_AES_BLOCK];
    memcpy(copy, v, sizeof(copy));
    drng_aes_portable.ctr(key, key_len, copy, out, out_blocks, tail, tail_blocks);
}

UNIT_TEST("a counter left behind is seen")
{
    const struct drng_aes faulty = {.name = "kept counter", .ctr = keeps_the_counter};
    CU_ASSERT_TRUE(faulty_ctr_is_seen(&faulty, 32));
}

int main(void)
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    int result = EXIT_SUCCESS;

    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    for (size_t i = 0; i < count; i++) {
        result |= aes_cases_run(all[i]);
    }
    result |= unit_run("AES");
    return result;
}
