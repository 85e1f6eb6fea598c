/* SPDX-License-Identifier: Apache-2.0 */
/* The health tests of SP 800-90B, at their cutoffs and one below. */

#include "mixing/entropy/health.h"
#include "tests/unit/unit.h"

enum { NOT_FOUND = 10000 };

UNIT_TEST("RCT fails at its cutoff and not before")
{
    struct drng_rct rct = {0};
    for (unsigned i = 1; i < DRNG_BYTE_RCT_CUTOFF; i++) {
        CU_ASSERT_TRUE(drng_rct_passes(&rct, 7, DRNG_BYTE_RCT_CUTOFF));
    }
    CU_ASSERT_FALSE(drng_rct_passes(&rct, 7, DRNG_BYTE_RCT_CUTOFF));
}

UNIT_TEST("RCT starts again with another value")
{
    struct drng_rct rct = {0};
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_TRUE(drng_rct_passes(&rct, i / (DRNG_BYTE_RCT_CUTOFF - 1), DRNG_BYTE_RCT_CUTOFF));
    }
}

UNIT_TEST("RCT takes a first zero for one")
{
    struct drng_rct rct = {0};
    CU_ASSERT_TRUE(drng_rct_passes(&rct, 0, 2));
    CU_ASSERT_FALSE(drng_rct_passes(&rct, 0, 2));
}

/* `seen` occurrences of the window's first value, spread over the window. */
static bool apt_passes_with(unsigned seen)
{
    struct drng_apt apt = {0};
    bool passes = true;
    for (unsigned i = 0; i < DRNG_APT_WINDOW; i++) {
        passes = drng_apt_passes(&apt, i % 2 == 0 && i / 2 < seen ? 42 : 1000 + i, DRNG_BYTE_APT_CUTOFF) && passes;
    }
    return passes;
}

UNIT_TEST("APT fails at its cutoff and not before")
{
    CU_ASSERT_TRUE(apt_passes_with(DRNG_BYTE_APT_CUTOFF - 1));
    CU_ASSERT_FALSE(apt_passes_with(DRNG_BYTE_APT_CUTOFF));
}

UNIT_TEST("APT counts within one window")
{
    struct drng_apt apt = {0};
    CU_ASSERT_TRUE(drng_apt_passes(&apt, 42, DRNG_WORD_APT_CUTOFF));
    for (unsigned i = 1; i < DRNG_APT_WINDOW; i++) {
        CU_ASSERT_TRUE(drng_apt_passes(&apt, 1000 + i, DRNG_WORD_APT_CUTOFF));
    }
    /* The next window opens with the same value, once: no failure. Again in it: a failure. */
    CU_ASSERT_TRUE(drng_apt_passes(&apt, 42, DRNG_WORD_APT_CUTOFF));
    CU_ASSERT_TRUE(drng_apt_passes(&apt, 43, DRNG_WORD_APT_CUTOFF));
    CU_ASSERT_FALSE(drng_apt_passes(&apt, 42, DRNG_WORD_APT_CUTOFF));
}

UNIT_TEST("APT sees the last sample of a window")
{
    struct drng_apt apt = {0};
    for (unsigned i = 0; i + 1 < DRNG_APT_WINDOW; i++) {
        CU_ASSERT_TRUE(drng_apt_passes(&apt, i, DRNG_WORD_APT_CUTOFF));
    }
    CU_ASSERT_FALSE(drng_apt_passes(&apt, 0, DRNG_WORD_APT_CUTOFF));
}

UNIT_TEST("a single zero or all ones passes")
{
    struct drng_health health = {0};
    CU_ASSERT_TRUE(drng_health_passes(&health, 0));
    CU_ASSERT_TRUE(drng_health_passes(&health, 5));
    health = (struct drng_health){0};
    CU_ASSERT_TRUE(drng_health_passes(&health, UINT64_MAX));
    CU_ASSERT_TRUE(drng_health_passes(&health, 6));
}

UNIT_TEST("two stuck words in a row fail")
{
    static const uint64_t stuck[][2] = {{0, 0}, {UINT64_MAX, UINT64_MAX}, {0, UINT64_MAX}, {UINT64_MAX, 0}};
    for (unsigned i = 0; i < 4; i++) {
        struct drng_health health = {0};
        CU_ASSERT_TRUE(drng_health_passes(&health, 5));
        CU_ASSERT_TRUE(drng_health_passes(&health, stuck[i][0]));
        CU_ASSERT_FALSE(drng_health_passes(&health, stuck[i][1]));
        CU_ASSERT_EQUAL(health.tests.failed, DRNG_TEST_STUCK);
    }
}

UNIT_TEST("an unchanging word fails the repetition test")
{
    struct drng_health health = {0};
    CU_ASSERT_TRUE(drng_health_passes(&health, 5));
    CU_ASSERT_FALSE(drng_health_passes(&health, 5));
    CU_ASSERT_EQUAL(health.tests.failed, DRNG_TEST_REPETITION);
}

UNIT_TEST("alternating words fail the proportion test")
{
    struct drng_health health = {0};
    CU_ASSERT_TRUE(drng_health_passes(&health, 5));
    CU_ASSERT_TRUE(drng_health_passes(&health, 6));
    CU_ASSERT_FALSE(drng_health_passes(&health, 5));
    CU_ASSERT_EQUAL(health.tests.failed, DRNG_TEST_PROPORTION);
}

/* SplitMix64's step: words whose every bit is as good as a coin. */
static uint64_t next_good(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

UNIT_TEST("good words pass through many windows")
{
    struct drng_health health = {0};
    uint64_t state = 0;
    bool passes = true;
    for (uint64_t i = 0; i < 100 * DRNG_APT_WINDOW; i++) {
        passes = drng_health_passes(&health, next_good(&state)) && passes;
    }
    CU_ASSERT_TRUE(passes);
}

/* ---- Words that are rare, and words that come again ---- */

/* Whether `word` passes when it comes `apart` good words after its first time, the first being word number `from`. */
static bool passes_again(uint64_t word, uint64_t again, unsigned from, unsigned apart, enum drng_health_test *failed)
{
    struct drng_health health = {0};
    uint64_t state = from;
    bool passes = true;
    for (unsigned i = 0; i < from; i++) {
        passes = drng_health_passes(&health, next_good(&state)) && passes;
    }
    passes = drng_health_passes(&health, word) && passes;
    for (unsigned i = 1; i < apart; i++) {
        passes = drng_health_passes(&health, next_good(&state)) && passes;
    }
    CU_ASSERT_TRUE(passes);
    passes = drng_health_passes(&health, again);
    *failed = health.tests.failed;
    return passes;
}

UNIT_TEST("two words of zeros or ones in a window fail, wherever it begins")
{
    static const unsigned apart[] = {1, 2, 3, 511, 512, 513, 4096, DRNG_STUCK_WINDOW - 1};
    for (unsigned i = 0; i < sizeof(apart) / sizeof(*apart); i++) {
        for (unsigned from = 0; from < 600; from += 599) {
            enum drng_health_test failed = DRNG_TEST_NONE;
            CU_ASSERT_FALSE(passes_again(0, UINT64_MAX, from, apart[i], &failed));
            CU_ASSERT_EQUAL(failed, DRNG_TEST_STUCK);
        }
    }
    enum drng_health_test failed = DRNG_TEST_NONE;
    CU_ASSERT_TRUE(passes_again(0, UINT64_MAX, 600, DRNG_STUCK_WINDOW, &failed));
}

/* A good word each time but at the multiples of `period`, where the same one comes. How many words pass. */
static unsigned passed_with_a_stale_word(unsigned period, uint64_t stale, enum drng_health_test *failed)
{
    struct drng_health health = {0};
    uint64_t state = period;
    for (unsigned i = 0; i < NOT_FOUND; i++) {
        if (!drng_health_passes(&health, i % period == period - 1 ? stale : next_good(&state))) {
            *failed = health.tests.failed;
            return i;
        }
    }
    return NOT_FOUND;
}

/* It keeps time with the window of the proportion test where that is a multiple, and is always between two others. */
UNIT_TEST("a word that comes in any rhythm is found")
{
    for (unsigned period = 2; period <= 128; period++) {
        enum drng_health_test failed = DRNG_TEST_NONE;
        const unsigned passed = passed_with_a_stale_word(period, UINT64_C(0x0123456789abcdef), &failed);
        CU_ASSERT_TRUE(passed < 2052);
        CU_ASSERT_TRUE(failed == DRNG_TEST_RECURRENCE || failed == DRNG_TEST_PROPORTION);
    }
}

/* Of two that share a place each finds the other's print there: until the hash is another. */
UNIT_TEST("words that hide each other part again")
{
    uint64_t state = 1;
    unsigned pairs = 0;
    while (pairs < 50) {
        struct drng_health health = {0};
        const uint64_t a = next_good(&state);
        const uint64_t b = next_good(&state);
        if ((a * UINT64_C(0x9e3779b97f4a7c15)) >> 57 != (b * UINT64_C(0x9e3779b97f4a7c15)) >> 57) {
            continue;
        }
        pairs++;
        unsigned passed = 0;
        for (; passed < 3 * 2052; passed++) {
            const unsigned at = passed % 4; /* two good words come first, so that the proportion test sees nothing */
            if (!drng_health_passes(&health, at == 2 ? a : at == 3 ? b : next_good(&state))) {
                break;
            }
        }
        CU_ASSERT_TRUE(passed < 3 * 2052);
        CU_ASSERT_EQUAL(health.tests.failed, DRNG_TEST_RECURRENCE);
    }
}

/* Each word twice, and then never again: A B A B C D C D. */
UNIT_TEST("words that come twice and never again are found")
{
    struct drng_health health = {0};
    uint64_t state = 3;
    uint64_t words[2] = {0};
    unsigned passed = 0;
    (void)drng_health_passes(&health, next_good(&state)); /* opens the window of the proportion test */
    for (; passed < 100; passed++) {
        words[passed % 2] = passed % 4 < 2 ? next_good(&state) : words[passed % 2];
        if (!drng_health_passes(&health, words[passed % 2])) {
            break;
        }
    }
    CU_ASSERT_TRUE(passed < 16);
    CU_ASSERT_EQUAL(health.tests.failed, DRNG_TEST_RECURRENCE);
}

UNIT_TEST("a word that was forgotten has no effect but by its print")
{
    struct drng_health health = {0};
    CU_ASSERT_TRUE(drng_health_passes(&health, 5));
    CU_ASSERT_TRUE(drng_health_passes(&health, 6));
    drng_health_forget_last(&health);
    CU_ASSERT_EQUAL(health.tests.rct.value, 0);
    const uint64_t changed = health.tests.changed;
    CU_ASSERT_TRUE(drng_health_passes(&health, 6)); /* found by its print: the suspect */
    CU_ASSERT_EQUAL(health.tests.changed, changed);
    CU_ASSERT_EQUAL(health.tests.suspect, 6);
    CU_ASSERT_FALSE(drng_health_passes(&health, 6));
}

/* ---- Bits that never change ---- */

/* With which word after `good` good ones a generator is found where these bits stay as `value` has them. */
static unsigned found_after(unsigned good, uint64_t stuck, uint64_t value, struct drng_health *health)
{
    uint64_t state = good;
    *health = (struct drng_health){0};
    for (unsigned i = 0; i < good; i++) {
        CU_ASSERT_TRUE(drng_health_passes(health, next_good(&state)));
    }
    for (unsigned i = 1; i < NOT_FOUND; i++) {
        if (!drng_health_passes(health, (next_good(&state) & ~stuck) | (value & stuck))) {
            return i;
        }
    }
    return NOT_FOUND;
}

static void stuck_bits_are_found(uint64_t stuck, uint64_t value)
{
    struct drng_health health;
    /* From the first word on with the first window, and later with the second window at the latest. Fatal: where no bit
     * is found, to look for each of them at each place takes minutes. */
    CU_ASSERT_EQUAL_FATAL(found_after(0, stuck, value, &health), DRNG_BITS_WINDOW);
    CU_ASSERT_EQUAL(health.tests.failed, DRNG_TEST_BITS);
    for (unsigned good = 1; good <= DRNG_APT_WINDOW + 2; good++) {
        CU_ASSERT_TRUE(found_after(good, stuck, value, &health) < 2 * DRNG_BITS_WINDOW);
        CU_ASSERT_EQUAL(health.tests.failed, DRNG_TEST_BITS);
    }
}

UNIT_TEST("every stuck bit is found within two windows")
{
    for (unsigned bit = 0; bit < 64; bit++) {
        stuck_bits_are_found(UINT64_C(1) << bit, 0);
        stuck_bits_are_found(UINT64_C(1) << bit, UINT64_MAX);
    }
}

UNIT_TEST("every stuck byte is found within two windows")
{
    for (unsigned byte = 0; byte < 8; byte++) {
        stuck_bits_are_found(UINT64_C(0xff) << 8 * byte, UINT64_C(0xdeadbeefdeadbeef));
        stuck_bits_are_found(UINT64_C(0xffffffff) << 4 * byte, UINT64_C(0xdeadbeefdeadbeef));
    }
}

/* One change of each bit in a window is enough, wherever in it. */
UNIT_TEST("a bit that changes once a window passes")
{
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t mask = UINT64_C(1) << bit;
        for (unsigned at = 1; at < DRNG_BITS_WINDOW; at++) {
            struct drng_health health = {0};
            uint64_t state = 1;
            bool passes = true;
            for (unsigned i = 0; i < DRNG_BITS_WINDOW; i++) {
                const uint64_t word = next_good(&state) & ~mask;
                passes = drng_health_passes(&health, i >= at ? word | mask : word) && passes;
            }
            CU_ASSERT_TRUE(passes);
        }
    }
}

UNIT_TEST("start-up counts the words it passed")
{
    struct drng_startup startup = {0};
    enum drng_health_test failed = DRNG_TEST_NONE;
    for (uint64_t i = 0; i < DRNG_STARTUP_WORDS; i++) {
        CU_ASSERT_TRUE(drng_startup_passes(&startup, (i + 1) * 0x9e3779b97f4a7c15, &failed));
    }
    CU_ASSERT_EQUAL(startup.words, DRNG_STARTUP_WORDS);
    CU_ASSERT_TRUE(DRNG_STARTUP_WORDS * 8 >= 1024);
}

UNIT_TEST("start-up fails on repeated bytes")
{
    struct drng_startup startup = {0};
    enum drng_health_test failed = DRNG_TEST_NONE;
    CU_ASSERT_TRUE(drng_startup_passes(&startup, 0x0101010102020202, &failed));
    CU_ASSERT_FALSE(drng_startup_passes(&startup, 0x0303030303030404, &failed));
    CU_ASSERT_EQUAL(failed, DRNG_TEST_REPETITION);
    CU_ASSERT_EQUAL(startup.words, 1);
}

UNIT_TEST("start-up fails on a byte too frequent")
{
    struct drng_startup startup = {0};
    enum drng_health_test failed = DRNG_TEST_NONE;
    unsigned words = 0;
    /* 4 of the 8 bytes are the window's first value, never two in a row. */
    while (words < DRNG_STARTUP_WORDS &&
           drng_startup_passes(&startup, 0xaa01bb01cc01dd01 + ((uint64_t)words << 56), &failed)) {
        words++;
    }
    CU_ASSERT_EQUAL(failed, DRNG_TEST_PROPORTION);
    CU_ASSERT_EQUAL(words, (DRNG_BYTE_APT_CUTOFF - 1) / 4);
}

/* How many words of a lane's own the start-up passes: this many of them have the first one's byte in this lane. */
static unsigned words_passed_with(unsigned lane, unsigned seen, enum drng_health_test *failed)
{
    struct drng_startup startup = {0};
    uint64_t state = lane + 1;
    const uint64_t mask = UINT64_C(0xff) << 8 * lane;
    for (unsigned i = 0; i < DRNG_STARTUP_WORDS; i++) {
        const uint64_t same = UINT64_C(0x4d) << 8 * lane;
        const uint64_t another = (UINT64_C(0x80) + i % 100) << 8 * lane;
        const bool is_same = i % 10 == 0 && i / 10 < seen;
        const uint64_t word = (next_good(&state) & ~mask) | (is_same ? same : another);
        if (!drng_startup_passes(&startup, word, failed)) {
            break;
        }
    }
    return startup.words;
}

UNIT_TEST("a byte too frequent in any lane fails, and not before")
{
    for (unsigned lane = 0; lane < 8; lane++) {
        enum drng_health_test failed = DRNG_TEST_NONE;
        CU_ASSERT_EQUAL(words_passed_with(lane, DRNG_LANE_APT_CUTOFF - 1, &failed), DRNG_STARTUP_WORDS);
        CU_ASSERT_EQUAL(failed, DRNG_TEST_NONE);
        CU_ASSERT_EQUAL(words_passed_with(lane, DRNG_LANE_APT_CUTOFF, &failed), 10 * (DRNG_LANE_APT_CUTOFF - 1));
        CU_ASSERT_EQUAL(failed, DRNG_TEST_LANES);
    }
}

UNIT_TEST("lanes open with the first word")
{
    enum drng_health_test failed = DRNG_TEST_NONE;
    struct drng_startup startup = {0};
    uint64_t state = 5;
    const uint64_t opening = next_good(&state);
    CU_ASSERT_TRUE(drng_startup_passes(&startup, opening, &failed));
    CU_ASSERT_EQUAL(startup.opening, opening);
    CU_ASSERT_EQUAL(startup.lanes, UINT64_C(0x0101010101010101));
    CU_ASSERT_TRUE(drng_startup_passes(&startup, opening ^ UINT64_C(0x01ff800010000100), &failed));
    CU_ASSERT_EQUAL(startup.lanes, UINT64_C(0x0101010201020102));
}

UNIT_TEST("a word of zeros or ones is tested by its bytes, too")
{
    for (unsigned ones = 0; ones < 2; ones++) {
        struct drng_startup startup = {0};
        enum drng_health_test failed = DRNG_TEST_NONE;
        CU_ASSERT_FALSE(drng_startup_passes(&startup, ones ? UINT64_MAX : 0, &failed));
        CU_ASSERT_EQUAL(failed, DRNG_TEST_REPETITION);
    }
}

UNIT_TEST("every test has a name")
{
    CU_ASSERT_STRING_EQUAL(drng_health_test_name(DRNG_TEST_STUCK), "stuck value test");
    CU_ASSERT_STRING_EQUAL(drng_health_test_name(DRNG_TEST_REPETITION), "repetition count test");
    CU_ASSERT_STRING_EQUAL(drng_health_test_name(DRNG_TEST_PROPORTION), "adaptive proportion test");
    CU_ASSERT_STRING_EQUAL(drng_health_test_name(DRNG_TEST_RECURRENCE), "recurrence test");
    CU_ASSERT_STRING_EQUAL(drng_health_test_name(DRNG_TEST_BITS), "unchanging bits test");
    CU_ASSERT_STRING_EQUAL(drng_health_test_name(DRNG_TEST_LANES), "byte lanes test");
    CU_ASSERT_STRING_EQUAL(drng_health_test_name(DRNG_TEST_NONE), "no test");
}

UNIT_MAIN("health")
