/*
 * health.h - SP 800-90B health tests on raw 64-bit words, before any conditioning.
 *
 * Everything is inline: the fused RDRAND loop keeps the words and this state in registers.
 */

#ifndef DRNG_HEALTH_H
#define DRNG_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/result.h"

/*
 * Cutoffs by 4.4.1 and 4.4.2 with an alpha of 2^-30, derived by scripts/evidence/cutoffs.py from the entropy claimed
 * for a sample: 32 bits a 64-bit word, 8 bits a byte of the start-up tests. The script says what rate of false alarms
 * each of them comes to.
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

/* Which test a word failed. */
enum drng_health_test {
    DRNG_TEST_NONE = 0,
    DRNG_TEST_STUCK,
    DRNG_TEST_REPETITION,
    DRNG_TEST_PROPORTION,
    DRNG_TEST_BITS,
    DRNG_TEST_LANES,
};

/* The test's name for a reader: "repetition count test". */
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
    unsigned left; /* samples that the window still takes; 0: the next one opens a window */
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

/* The continuous tests over one reader's words of one instruction. All zero is the initial state. */
struct drng_health {
    struct drng_rct rct;
    struct drng_apt apt;
    uint64_t changed;             /* the bits that have changed in this window of the test of unchanging bits */
    unsigned stuck;               /* how many of the last words in a row were all zeros or all ones */
    enum drng_health_test failed; /* what the last failing word failed */
};

/*
 * All zeros and all ones are what dead generators give. Each is a legitimate word once, so it is the next
 * reading that decides: two such words in a row, whichever, fail.
 */
enum { DRNG_STUCK_CUTOFF = 2 };

static inline bool drng_health_zeros_or_ones(uint64_t word)
{
    return word + 1 <= 1; /* UINT64_MAX or 0 */
}

/*
 * Unchanging bits: of DRNG_BITS_WINDOW words each bit must be 0 in one and 1 in another. The tests of whole words are
 * blind to a stuck bit, since the others keep the words different. Its windows are parts of those of the adaptive
 * proportion test, which has counted the word already; `change` is what the word has other than the one before.
 */
static inline bool drng_bits_pass(struct drng_health *health, uint64_t change)
{
    const unsigned left = health->apt.left % DRNG_BITS_WINDOW;
    health->changed |= change;
    if (__builtin_expect(left + 1 == DRNG_BITS_WINDOW, 0)) {
        health->changed = 0; /* what comes before the first word is not of this window */
    }
    return __builtin_expect(left > 0, 1) || health->changed == UINT64_MAX;
}

/* Tests one word; false: health->failed names the test. */
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

/* SP 800-90B, 4.3: start-up tests over 1,024 samples, here the bytes of 128 words. The words are discarded. */
enum { DRNG_STARTUP_WORDS = 128 };

/*
 * All zero is the initial state. Counts are no wider than they have to be: two of these, and all else that a reader
 * keeps, share a slot of secure memory.
 */
struct drng_startup {
    uint64_t opening;  /* the word whose bytes open a window in each lane */
    uint64_t lanes;    /* how often each of those bytes has come in its lane: eight counts, a byte for each */
    uint16_t words;    /* tested so far */
    uint16_t failures; /* of the instruction, in all readers, before the first of them */
    uint16_t apt_seen; /* these five: repetition count and adaptive proportion of the bytes, one after the other */
    uint16_t apt_left;
    uint8_t apt_value;
    uint8_t rct_value;
    uint8_t rct_run;
};

/*
 * Tests the eight bytes of a word that drng_health_passes() has passed: in a row, least significant first, and each
 * against the bytes of its own lane. A window of 512 bytes in a row always opens with a byte of the lowest lane, so the
 * other seven need tests of their own. False: *failed names the test. Of a suspect word it tests none: whether that one
 * is legitimate, the next word decides.
 */
bool drng_startup_passes(struct drng_startup *startup, uint64_t word, enum drng_health_test *failed);

#endif
