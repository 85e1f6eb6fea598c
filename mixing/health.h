/*
 * health.h - SP 800-90B health tests on raw 64-bit words, before any conditioning.
 *
 * Everything is inline: the fused RDRAND loop keeps the words and this state in registers.
 */

#ifndef DRNG_HEALTH_H
#define DRNG_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/status.h"

/*
 * Cutoffs at a false-positive rate of 2^-30, written by scripts/cutoffs.py from the entropy claimed for a
 * sample: 32 bits a 64-bit word, 8 bits a byte of the start-up tests.
 */
enum {
    DRNG_WORD_RCT_CUTOFF = 2,
    DRNG_WORD_APT_CUTOFF = 2,
    DRNG_BYTE_RCT_CUTOFF = 5,
    DRNG_BYTE_APT_CUTOFF = 16,
    DRNG_APT_WINDOW = 512,
};

/* Which test a word failed. */
enum drng_health_test {
    DRNG_TEST_NONE = 0,
    DRNG_TEST_STUCK,
    DRNG_TEST_REPETITION,
    DRNG_TEST_PROPORTION,
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
    unsigned stuck;               /* how many of the last words in a row were all zeros or all ones */
    enum drng_health_test failed; /* what the last failing word failed */
};

/*
 * All zeros and all ones are what dead generators give. Each is a legitimate word once, so it is the next
 * reading that decides: two such words in a row, whichever, fail.
 */
enum { DRNG_STUCK_CUTOFF = 2 };

static inline bool drng_health_suspects(uint64_t word)
{
    return word + 1 <= 1; /* UINT64_MAX or 0 */
}

/* Tests one word; false: health->failed names the test. */
static inline bool drng_health_passes(struct drng_health *health, uint64_t word)
{
    health->stuck = drng_health_suspects(word) ? health->stuck + 1 : 0;
    const bool repetition = drng_rct_passes(&health->rct, word, DRNG_WORD_RCT_CUTOFF);
    const bool proportion = drng_apt_passes(&health->apt, word, DRNG_WORD_APT_CUTOFF);
    const bool unstuck = health->stuck < DRNG_STUCK_CUTOFF;
    if (__builtin_expect(repetition && proportion && unstuck, 1)) {
        return true;
    }
    health->failed = !unstuck ? DRNG_TEST_STUCK : !repetition ? DRNG_TEST_REPETITION : DRNG_TEST_PROPORTION;
    return false;
}

/* SP 800-90B, 4.3: start-up tests over 1,024 samples, here the bytes of 128 words. The words are discarded. */
enum { DRNG_STARTUP_WORDS = 128 };

/* All zero is the initial state. */
struct drng_startup {
    struct drng_rct rct;
    struct drng_apt apt;
    unsigned words; /* tested so far */
};

/*
 * Tests the eight bytes of a word that drng_health_passes() has passed, least significant first; false: *failed names
 * the test. Of a suspect word it tests none: whether that one is legitimate, the next word decides.
 */
bool drng_startup_passes(struct drng_startup *startup, uint64_t word, enum drng_health_test *failed);

#endif
