/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/aes_wide.h"

#include "tests/unit/aes_cases.h"
#include "tests/unit/brief.h"
#include "tests/unit/unit.h"

enum {
    LONG_RUN = 256,
    LANES = 8,   /* registers in flight */
    NARROW = 80, /* bytes up to which AES-NI serves */
    FEWER = 128, /* bytes of the shorter requests in registers of 256 bits */
    LONGEST = 256,
};

static const struct aes_wide *subject;

/* Rounds of wide registers in a run of this many blocks, its counter starting after `low`. */
static unsigned long rounds_of(size_t key_len, size_t blocks, uint64_t low)
{
    static uint8_t out[LONG_RUN * DRNG_AES_BLOCK];
    const uint8_t key[DRNG_AES_MAX_KEY] = {0};
    uint8_t v[DRNG_AES_BLOCK] = {0};
    for (unsigned i = 0; i < 8; i++) {
        v[15 - i] = (uint8_t)(low >> 8 * i);
    }
    const unsigned long before = *subject->rounds;
    subject->aes->ctr(key, key_len, v, out, blocks, NULL, 0);
    return *subject->rounds - before;
}

/* Of a run without a tail, which is made all the same; the last group overlaps with the one before. */
static unsigned long expected_rounds(size_t key_len, size_t blocks)
{
    const size_t group = (size_t)LANES * subject->blocks;
    return (key_len / 4 + 5) * LANES * ((blocks + DRNG_AES_TAIL + group - 1) / group);
}

/* Else the cases would prove AES-NI a second time. */
UNIT_TEST("long runs go through the wide registers")
{
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        CU_ASSERT_EQUAL(rounds_of(key_len, LONG_RUN, 0), expected_rounds(key_len, LONG_RUN));
        CU_ASSERT_EQUAL(rounds_of(key_len, LONG_RUN - 5, 0), expected_rounds(key_len, LONG_RUN - 5));
    }
}

UNIT_TEST("runs that are too short do not")
{
    for (unsigned blocks = 0; blocks < subject->least; blocks++) {
        CU_ASSERT_EQUAL(rounds_of(32, blocks, 0), 0);
    }
    CU_ASSERT_EQUAL(rounds_of(32, subject->least, 0), expected_rounds(32, subject->least));
}

/* A branch there would tell something of V. */
UNIT_TEST("a carry changes no way")
{
    CU_ASSERT_EQUAL(rounds_of(32, 64, UINT64_MAX - 63), rounds_of(32, 64, 0));
    CU_ASSERT_EQUAL(rounds_of(32, 64, UINT64_MAX), rounds_of(32, 64, 0));
}

static unsigned long brief_rounds_of(size_t key_len, size_t out_len, uint64_t low)
{
    static uint8_t out[LONGEST];
    _Alignas(16) uint8_t key[DRNG_AES_MAX_KEY] = {0};
    uint8_t v[DRNG_AES_BLOCK] = {0};
    for (unsigned i = 0; i < 8; i++) {
        v[15 - i] = (uint8_t)(low >> 8 * i);
    }
    const unsigned long before = brief_rounds();
    subject->aes->request(key, key_len, v, out, out_len, NULL);
    return brief_rounds() - before;
}

/* What eight registers of AES-NI do not hold. */
UNIT_TEST("short requests go through registers of their own")
{
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        for (size_t len = 1; len <= LONGEST; len++) {
            const unsigned long lanes = len <= NARROW ? 0 : len <= FEWER ? 6 : 10;
            CU_ASSERT_EQUAL(brief_rounds_of(key_len, len, 0), (key_len / 4 + 5) * lanes);
            CU_ASSERT_EQUAL(brief_rounds_of(key_len, len, UINT64_MAX - len / 16), (key_len / 4 + 5) * lanes);
        }
    }
}

int aes_wide_run(const struct aes_wide *wide)
{
    subject = wide;
    return aes_cases_run(wide->aes) | unit_run("use of the wide registers");
}
