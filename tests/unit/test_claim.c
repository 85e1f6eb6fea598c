/* Claims: which maker's holds, and how many words a window takes under it. The rows are those of x86-64. */

#include "mixing/machine/claim.h"

#include <string.h>

#include "tests/scripted/cpu.h"
#include "tests/unit/unit.h"

struct part {
    struct drng_cpu cpu;
    size_t window; /* of RDSEED, by certificate */
};

static const struct part parts[] = {
    {{.vendor = "GenuineIntel", .family = 0x06, .model = 0xcf, .stepping = 2}, 8},
    {{.vendor = "GenuineIntel", .family = 0x06, .model = 0x6a, .stepping = 15}, 8},
    {{.vendor = "GenuineIntel", .family = 0x06, .model = 0x55, .stepping = 7}, 8},
    {{.vendor = "GenuineIntel", .family = 0x06, .model = 0x55, .stepping = 6}, 0},
    {{.vendor = "GenuineIntel", .family = 0x06, .model = 0x9e, .stepping = 10}, 0}, /* a client */
    {{.vendor = "GenuineIntel", .family = 0x13, .model = 0xcf}, 0},
    /* 0.328 bits a word: 192 bits want 586 words, and windows go by fours. */
    {{.vendor = "AuthenticAMD", .family = 0x17, .model = 0x31, .stepping = 0}, 588},
    {{.vendor = "AuthenticAMD", .family = 0x17, .model = 0x31, .stepping = 1}, 0},
    {{.vendor = "AuthenticAMD", .family = 0x19, .model = 0x11, .stepping = 1}, 588},
    {{.vendor = "AuthenticAMD", .family = 0x1a, .model = 0x02, .stepping = 1}, 588},
    {{.vendor = "AuthenticAMD", .family = 0x16, .model = 0x31}, 0},
    {{.vendor = "HygonGenuine", .family = 0x18, .model = 0x01}, 0},
    {{.vendor = "GenuineIntel", .family = 0x1a, .model = 0x02}, 0},
    {{.vendor = ""}, 0},
};

static void a_certificate_holds_for_the_processors_on_its_list(void)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const struct drng_claim *claim = drng_claim_find(&parts[i].cpu, DRNG_RDSEED);
        CU_ASSERT_EQUAL(drng_claim_window_words(claim), parts[i].window);
        CU_ASSERT_EQUAL(drng_claim_window_words(drng_claim_find(&parts[i].cpu, DRNG_RDRAND)), 0);
    }
    CU_ASSERT_EQUAL(drng_claim_window_words(NULL), 0);
    CU_ASSERT_EQUAL(drng_claim_window_bits(NULL, 1000), 0);
}

static void bits_are_rounded_down(void)
{
    const struct drng_claim amd = {.instruction = DRNG_RDSEED, .certified_millibits = 328};
    const struct drng_claim intel = {.instruction = DRNG_RDSEED, .certified_millibits = 32000};
    CU_ASSERT_EQUAL(drng_claim_window_bits(&amd, 8), 2);
    CU_ASSERT_EQUAL(drng_claim_window_bits(&amd, 588), 192);
    CU_ASSERT_EQUAL(drng_claim_window_bits(&intel, 8), 256);
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
        CU_ASSERT_EQUAL(certified, claim->certificate != NULL && claim->reuse != NULL && claim->parts != NULL);
        CU_ASSERT_TRUE(claim->says == NULL || claim->document != NULL || claim->read_in != NULL);
    }
    const struct drng_cpu unheard_of = {.vendor = "whoever", .family = 0xff};
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        CU_ASSERT_PTR_NOT_NULL(drng_claim_find(&unheard_of, i));
    }
}

static const struct unit_test tests[] = {
    {"a certificate holds for the processors on its list", a_certificate_holds_for_the_processors_on_its_list},
    {"bits are rounded down", bits_are_rounded_down},
    {"every rate gives a window that suffices", every_rate_gives_a_window_that_suffices},
    {"every claim says whose it is", every_claim_says_whose_it_is},
};

UNIT_MAIN("claim", tests)
