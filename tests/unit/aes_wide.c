#include "tests/unit/aes_wide.h"

#include "tests/unit/aes_cases.h"
#include "tests/unit/brief.h"

enum {
    LONG_RUN = 256,
    LANES = 8,     /* as in aes_ni.c */
    BULK_MIN = 32, /* as there */
    BRIEF = 20,    /* DRNG_AES_SHORT_BLOCKS */
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

/* Else the cases would prove AES-NI a second time. */
static void long_runs_go_through_the_wide_registers(void)
{
    CU_ASSERT_EQUAL(rounds_of(16, LONG_RUN, 0), 9 * LONG_RUN / subject->blocks);
    CU_ASSERT_EQUAL(rounds_of(24, LONG_RUN, 0), 11 * LONG_RUN / subject->blocks);
    CU_ASSERT_EQUAL(rounds_of(32, LONG_RUN, 0), 13 * LONG_RUN / subject->blocks);
}

static void short_runs_do_not(void)
{
    CU_ASSERT_EQUAL(rounds_of(32, BULK_MIN - 1, 0), 0);
    CU_ASSERT_EQUAL(rounds_of(32, BULK_MIN, 0), 13 * BULK_MIN / subject->blocks);
}

/* A branch there would tell something of V. */
static void a_carry_changes_no_way(void)
{
    CU_ASSERT_EQUAL(rounds_of(32, 64, UINT64_MAX - 63), rounds_of(32, 64, 0));
    CU_ASSERT_EQUAL(rounds_of(32, 64, UINT64_MAX), rounds_of(32, 64, 0));
}

static unsigned long brief_rounds_of(size_t key_len, size_t blocks, uint64_t low)
{
    const unsigned long before = brief_rounds();
    (void)rounds_of(key_len, blocks, low);
    return brief_rounds() - before;
}

/* What eight registers of AES-NI do not hold, and no more than a short request is. */
static void short_requests_go_through_registers_of_their_own(void)
{
    for (size_t blocks = 1; blocks <= BULK_MIN; blocks++) {
        const unsigned long lanes = blocks <= LANES || blocks > BRIEF ? 0 : blocks <= 12 ? 6 : 10;
        CU_ASSERT_EQUAL(brief_rounds_of(32, blocks, 0), 13 * lanes);
        CU_ASSERT_EQUAL(brief_rounds_of(16, blocks, 0), 0);
        CU_ASSERT_EQUAL(brief_rounds_of(24, blocks, 0), 0);
        CU_ASSERT_EQUAL(brief_rounds_of(32, blocks, UINT64_MAX - blocks + 1), 13 * lanes);
    }
}

static const struct unit_test tests[] = {
    {"long runs go through the wide registers", long_runs_go_through_the_wide_registers},
    {"short runs do not", short_runs_do_not},
    {"a carry changes no way", a_carry_changes_no_way},
    {"short requests go through registers of their own", short_requests_go_through_registers_of_their_own},
};

int aes_wide_run(const struct aes_wide *wide)
{
    subject = wide;
    aes_cases_about(wide->aes);
    return unit_run(wide->aes->name, aes_cases, aes_case_count) |
           unit_run("use of the wide registers", tests, sizeof(tests) / sizeof(*tests));
}
