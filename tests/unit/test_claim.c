/* Claims: which maker's holds, and how many words a window takes under it. The rows are those of x86-64. */

#include "mixing/machine/claim.h"

#include <string.h>

#include "tests/scripted/cpu.h"
#include "tests/unit/unit.h"

static const struct drng_claim *claim_of(const char *vendor, unsigned family, unsigned instruction)
{
    struct drng_cpu cpu = {.family = family};
    memcpy(cpu.vendor, vendor, strlen(vendor) + 1);
    return drng_claim_find(&cpu, instruction);
}

static size_t window_of(const char *vendor, unsigned family, unsigned instruction)
{
    return drng_claim_window_words(claim_of(vendor, family, instruction));
}

static void windows_are_filled_by_certificate(void)
{
    CU_ASSERT_EQUAL(window_of("GenuineIntel", 0x06, DRNG_RDSEED), 8);
    /* 0.328 bits a word: 192 bits want 586 words, and windows go by fours. */
    CU_ASSERT_EQUAL(window_of("AuthenticAMD", 0x17, DRNG_RDSEED), 588);
    CU_ASSERT_EQUAL(window_of("AuthenticAMD", 0x1a, DRNG_RDSEED), 588);
}

static void without_a_certificate_there_is_no_window(void)
{
    CU_ASSERT_EQUAL(window_of("AuthenticAMD", 0x16, DRNG_RDSEED), 0);
    CU_ASSERT_EQUAL(window_of("AuthenticAMD", 0x1b, DRNG_RDSEED), 0);
    CU_ASSERT_EQUAL(window_of("GenuineIntel", 0x13, DRNG_RDSEED), 0);
    CU_ASSERT_EQUAL(window_of("HygonGenuine", 0x18, DRNG_RDSEED), 0);
    CU_ASSERT_EQUAL(window_of("", 0, DRNG_RDSEED), 0);
    CU_ASSERT_EQUAL(window_of("GenuineIntel", 0x06, DRNG_RDRAND), 0);
    CU_ASSERT_EQUAL(window_of("AuthenticAMD", 0x19, DRNG_RDRAND), 0);
    CU_ASSERT_EQUAL(drng_claim_window_words(NULL), 0);
    CU_ASSERT_EQUAL(drng_claim_window_bits(NULL, 1000), 0);
}

static void bits_are_rounded_down(void)
{
    const struct drng_claim *amd = claim_of("AuthenticAMD", 0x19, DRNG_RDSEED);
    CU_ASSERT_EQUAL(drng_claim_window_bits(amd, 8), 2);
    CU_ASSERT_EQUAL(drng_claim_window_bits(amd, 588), 192);
    CU_ASSERT_EQUAL(drng_claim_window_bits(claim_of("GenuineIntel", 6, DRNG_RDSEED), 8), 256);
}

/* Whatever a maker may certify: a word has 64 bits at the most. */
static void every_rate_gives_a_window_that_suffices(void)
{
    for (unsigned millibits = 1; millibits <= 64000; millibits++) {
        const struct drng_claim claim = {.instruction = DRNG_RDSEED, .certified_millibits = millibits};
        const size_t words = drng_claim_window_words(&claim);
        const size_t fewer = words - DRNG_WINDOW_UNIT;
        const bool suffices = drng_claim_window_bits(&claim, words) >= 192 && words % DRNG_WINDOW_UNIT == 0;
        const bool is_least = words == DRNG_RDSEED_WORDS || drng_claim_window_bits(&claim, fewer) < 192;
        CU_ASSERT_TRUE(suffices && is_least && words >= DRNG_RDSEED_WORDS);
    }
}

static void every_claim_says_whose_it_is(void)
{
    for (const struct drng_claim *claim = drng_claims; claim->maker != NULL; claim++) {
        const bool certified = claim->certified_millibits > 0;
        CU_ASSERT_TRUE(claim->instruction < DRNG_INSTRUCTIONS);
        CU_ASSERT_TRUE(claim->first_family <= claim->last_family);
        CU_ASSERT_EQUAL(certified, claim->certificates != NULL && claim->reuse != NULL);
        CU_ASSERT_TRUE(claim->says == NULL || claim->document != NULL || claim->read_in != NULL);
    }
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        CU_ASSERT_PTR_NOT_NULL(claim_of("whoever", 0xff, i));
    }
}

static const struct unit_test tests[] = {
    {"windows are filled by certificate", windows_are_filled_by_certificate},
    {"without a certificate there is no window", without_a_certificate_there_is_no_window},
    {"bits are rounded down", bits_are_rounded_down},
    {"every rate gives a window that suffices", every_rate_gives_a_window_that_suffices},
    {"every claim says whose it is", every_claim_says_whose_it_is},
};

UNIT_MAIN("claim", tests)
