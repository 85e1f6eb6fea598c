/* SPDX-License-Identifier: Apache-2.0 */
/* Block_Cipher_df against the reference, its input cut up in every way; with every AES that this CPU can run. */

#include <string.h>

#include "mixing/drbg/df.h"
#include "tests/unit/bytes.h"
#include "tests/unit/reference.h"
#include "tests/unit/unit.h"

enum { INPUT_MAX = 1000, CANARY = 0xc3 };

static const struct drng_aes *all[DRNG_AES_KINDS];
static size_t kinds;
static uint8_t input[INPUT_MAX];

static void set_up(void)
{
    uint64_t state = 31;
    bytes_random(&state, input, sizeof(input));
}

/* Whether these inputs give what the reference makes of them, to seedlen bytes and no further. */
static bool agrees(const struct drng_aes *aes, size_t key_len, const struct drng_bytes *inputs, size_t count)
{
    const size_t seedlen = DRNG_DRBG_SEEDLEN(key_len);
    uint8_t expected[DRNG_DRBG_MAX_SEEDLEN];
    uint8_t out[DRNG_DRBG_MAX_SEEDLEN + 1];
    memset(out, CANARY, sizeof(out));
    reference_df(key_len, expected, inputs, count);
    drng_block_cipher_df(aes, key_len, out, inputs, count);
    return memcmp(out, expected, seedlen) == 0 && bytes_are(out + seedlen, sizeof(out) - seedlen, CANARY);
}

UNIT_TEST("one input of every length agrees")
{
    set_up();
    for (size_t i = 0; i < kinds; i++) {
        for (size_t key_len = 16; key_len <= 32; key_len += 8) {
            for (size_t len = 0; len <= 100; len++) {
                const struct drng_bytes in = {input, len};
                CU_ASSERT_TRUE(agrees(all[i], key_len, &in, 1));
            }
            const struct drng_bytes in = {input, INPUT_MAX};
            CU_ASSERT_TRUE(agrees(all[i], key_len, &in, 1));
        }
    }
}

/* 40 bytes: with the header of 8 that is three blocks, so cuts fall on and beside the edges of blocks. */
UNIT_TEST("two cuts anywhere change nothing")
{
    uint8_t whole[DRNG_DRBG_MAX_SEEDLEN];
    set_up();
    const struct drng_bytes one = {input, 40};
    drng_block_cipher_df(all[kinds - 1], 32, whole, &one, 1);
    for (size_t first = 0; first <= 40; first++) {
        for (size_t second = first; second <= 40; second++) {
            const struct drng_bytes three[] = {
                {input, first}, {input + first, second - first}, {input + second, 40 - second}};
            uint8_t out[DRNG_DRBG_MAX_SEEDLEN];
            drng_block_cipher_df(all[kinds - 1], 32, out, three, 3);
            CU_ASSERT_EQUAL(memcmp(out, whole, sizeof(whole)), 0);
        }
    }
    CU_ASSERT_TRUE(agrees(all[kinds - 1], 32, &one, 1));
}

UNIT_TEST("empty inputs without data are nothing")
{
    set_up();
    const struct drng_bytes inputs[] = {{NULL, 0}, {input, 21}, {NULL, 0}, {input + 21, 19}, {NULL, 0}};
    for (size_t i = 0; i < kinds; i++) {
        CU_ASSERT_TRUE(agrees(all[i], 32, inputs, 5));
        CU_ASSERT_TRUE(agrees(all[i], 16, inputs, 1));
        CU_ASSERT_TRUE(agrees(all[i], 24, inputs, 0));
    }
}

UNIT_TEST("the length of the input counts")
{
    static const uint8_t zeros[16];
    uint8_t out[DRNG_DRBG_MAX_SEEDLEN];
    uint8_t other[DRNG_DRBG_MAX_SEEDLEN];
    const struct drng_bytes shorter = {zeros, 15};
    const struct drng_bytes longer = {zeros, 16};
    drng_block_cipher_df(all[0], 32, out, &shorter, 1);
    drng_block_cipher_df(all[0], 32, other, &longer, 1);
    CU_ASSERT_NOT_EQUAL(memcmp(out, other, sizeof(out)), 0);
}

int main(void)
{
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    kinds = drng_aes_all(&cpu, all);
    return unit_run("derivation function");
}
