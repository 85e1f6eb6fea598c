/*
 * health.h - SP 800-90B health tests on raw 64-bit words, before any conditioning.
 *
 * Inline, so that the fused RDRAND loop keeps the words and this state in registers.
 */

#ifndef DRNG_HEALTH_H
#define DRNG_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/result.h"

/*
 * Cutoffs of SP 800-90B, 4.4.1 and 4.4.2, with an alpha of 2^-30. scripts/evidence/cutoffs.py derives them from the
 * entropy claimed for a sample: 32 bits for a 64-bit word, 8 bits for a byte in the start-up tests. The script prints
 * the rate of false alarms of each.
 */
enum {
    DRNG_WORD_RCT_CUTOFF = 2,
    DRNG_WORD_APT_CUTOFF = 2,
    DRNG_BYTE_RCT_CUTOFF = 5,
    DRNG_BYTE_APT_CUTOFF = 16,
    DRNG_LANE_APT_CUTOFF = 10,
    DRNG_APT_WINDOW = 512,
    DRNG_BITS_WINDOW = 64, /* divides DRNG_APT_WINDOW */
};

/* The test that a word failed. */
enum drng_health_test {
    DRNG_TEST_NONE = 0,
    DRNG_TEST_STUCK,
    DRNG_TEST_REPETITION,
    DRNG_TEST_PROPORTION,
    DRNG_TEST_BITS,
    DRNG_TEST_LANES,
};

/* The name of the test for a person: "repetition count test". */
const char *drng_health_test_name(enum drng_health_test test);

/* SP 800-90B, 4.4.1. All zero is the state before the first sample. */
struct drng_rct {
    uint64_t value;
    unsigned run;
};

static inline bool drng_rct_passes(struct drng_rct *rct, uint64_t sample, unsigned cutoff)
{
    rct->run = sample == rct->value ? rct->run + 1 : 1;
    rct->value = sample;
    return rct->run < cutoff;
}

/* SP 800-90B, 4.4.2, window DRNG_APT_WINDOW. All zero is the state before the first sample. */
struct drng_apt {
    uint64_t value;
    unsigned seen;
    unsigned left; /* samples left in this window; 0: the next sample starts a window */
};

static inline bool drng_apt_passes(struct drng_apt *apt, uint64_t sample, unsigned cutoff)
{
    if (apt->left == 0) {
        apt->value = sample;
        apt->seen = 1;
        apt->left = DRNG_APT_WINDOW - 1;
        return true;
    }
    apt->left--;
    apt->seen += sample == apt->value;
    return apt->seen < cutoff;
}

/* The continuous tests of one reader's words from one instruction. All zero is the initial state. */
struct drng_health {
    struct drng_rct rct;
    struct drng_apt apt;
    uint64_t changed;             /* the bits that have changed in this window of the test of unchanging bits */
    unsigned stuck;               /* length of the current run of words that are all zeros or all ones */
    enum drng_health_test failed; /* the test that the last failing word failed */
};

/*
 * A dead generator returns all zeros or all ones. Either word may legitimately come once, so the test fails at the
 * second such word in a row, even if one is zeros and the other ones.
 */
enum { DRNG_STUCK_CUTOFF = 2 };

static inline bool drng_health_zeros_or_ones(uint64_t word)
{
    return word + 1 <= 1; /* 0 or UINT64_MAX */
}

/*
 * The test of unchanging bits: in DRNG_BITS_WINDOW words each bit must change at least once. The tests of whole words
 * do not see a stuck bit, since the other bits make the words differ. Its windows divide those of the adaptive
 * proportion test, which has already counted this word. `change` is the XOR of this word and the one before.
 */
static inline bool drng_bits_pass(struct drng_health *health, uint64_t change)
{
    const unsigned left = health->apt.left % DRNG_BITS_WINDOW;
    health->changed |= change;
    if (__builtin_expect(left + 1 == DRNG_BITS_WINDOW, 0)) {
        health->changed = 0; /* the change from the word before the window does not count */
    }
    return __builtin_expect(left > 0, 1) || health->changed == UINT64_MAX;
}

/* Tests one word. False: health->failed is the test that failed. */
static inline bool drng_health_passes(struct drng_health *health, uint64_t word)
{
    const uint64_t change = word ^ health->rct.value;
    health->stuck = drng_health_zeros_or_ones(word) ? health->stuck + 1 : 0;
    const bool repetition = drng_rct_passes(&health->rct, word, DRNG_WORD_RCT_CUTOFF);
    const bool proportion = drng_apt_passes(&health->apt, word, DRNG_WORD_APT_CUTOFF);
    const bool bits = drng_bits_pass(health, change);
    const bool unstuck = health->stuck < DRNG_STUCK_CUTOFF;
    if (__builtin_expect(repetition && proportion && unstuck && bits, 1)) {
        return true;
    }
    health->failed = !unstuck      ? DRNG_TEST_STUCK
                     : !repetition ? DRNG_TEST_REPETITION
                     : !proportion ? DRNG_TEST_PROPORTION
                                   : DRNG_TEST_BITS;
    return false;
}

/* SP 800-90B, 4.3: start-up tests of 1,024 samples, here the bytes of 128 words. The words are discarded. */
enum { DRNG_STARTUP_WORDS = 128 };

/* All zero is the initial state. */
struct drng_startup {
    struct drng_rct rct; /* of the bytes in sequence */
    struct drng_apt apt; /* the same */
    uint64_t opening;    /* the word that started the window of each lane */
    uint64_t lanes;      /* in each byte, how often that lane's first byte has come */
    unsigned words;      /* words tested so far */
    unsigned failures;   /* the instruction's failures, of all readers, before the first of these words */
};

/*
 * Tests the eight bytes of a word that has passed drng_health_passes(): as a sequence, least significant byte first,
 * and each byte in its lane. In the sequence, every window of 512 bytes starts with a byte of the lowest lane, so the
 * other seven lanes need tests of their own. A word that is all zeros or all ones is not tested here: the next word
 * decides whether it was legitimate. False: *failed is the test.
 */
bool drng_startup_passes(struct drng_startup *startup, uint64_t word, enum drng_health_test *failed);

#endif
