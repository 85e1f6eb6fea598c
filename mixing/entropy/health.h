/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - SP 800-90B health tests on raw 64-bit words, before any conditioning.
 *
 * Inline, so that the fused RDRAND loop keeps the words and this state in registers.
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Cutoffs by the formulas of SP 800-90B, 4.4.1 and 4.4.2, and of tests like them, with an alpha of 2^-30; in the
 * start-up tests, which each fresh reader makes, 2^-40. scripts/evidence/cutoffs.py derives them from the entropy
 * claimed for a sample: 32 bits for a 64-bit word, 8 bits for a byte in the start-up tests. docs/entropy.md has the
 * rate of false alarms that each comes to.
 */
enum {
    DRNG_WORD_RCT_CUTOFF = 2,
    DRNG_WORD_APT_CUTOFF = 2,
    DRNG_BYTE_RCT_CUTOFF = 6,
    DRNG_BYTE_APT_CUTOFF = 19,
    DRNG_LANE_APT_CUTOFF = 12,
    DRNG_APT_WINDOW = 512,
    DRNG_BITS_WINDOW = 64,
    DRNG_STUCK_CUTOFF = 2,
    DRNG_STUCK_WINDOW = 65536,
    DRNG_PRINT_BITS = 16,
    DRNG_PRINTS = 128,
    DRNG_PRINT_CUTOFF = 7,
    DRNG_PRINT_WINDOW = 4096,
};

/* The test that a word failed. */
enum drng_health_test {
    DRNG_TEST_NONE = 0,
    DRNG_TEST_STUCK,
    DRNG_TEST_REPETITION,
    DRNG_TEST_PROPORTION,
    DRNG_TEST_RECURRENCE,
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

/* Events that are rare in good words, counted in windows that an event opens. All zero is the initial state. */
struct drng_rare {
    uint32_t since; /* the number of the word that opened the window */
    uint32_t seen;
};

static inline bool drng_rare_passes(struct drng_rare *rare, uint32_t now, uint32_t window, uint32_t cutoff)
{
    if (rare->seen == 0 || now - rare->since >= window) {
        *rare = (struct drng_rare){now, 0};
    }
    return ++rare->seen < cutoff;
}

/* What the tests of words know, but for the prints: in registers in the fused loop. */
struct drng_tests {
    struct drng_rct rct;
    struct drng_apt apt;
    uint64_t changed;             /* the bits that have changed in this window of the test of unchanging bits */
    uint64_t suspect;             /* the last word whose print was there before; 0: none */
    uint32_t words;               /* tested so far */
    struct drng_rare stuck;       /* words that are all zeros or all ones */
    struct drng_rare recurring;   /* words whose print was there before */
    enum drng_health_test failed; /* the test that the last failing word failed */
};

/* The continuous tests of one reader's words from one instruction. All zero is the initial state. */
struct drng_health {
    struct drng_tests tests;
    uint16_t prints[DRNG_PRINTS];
};

static inline bool drng_health_zeros_or_ones(uint64_t word)
{
    return word + 1 <= 1; /* 0 or UINT64_MAX */
}

/*
 * In DRNG_BITS_WINDOW words each bit must change: the tests of whole words do not see a stuck one. `change` is the XOR
 * of this word and the one before; that from the word before the window does not count.
 */
static inline bool drng_bits_pass(struct drng_tests *tests, uint64_t change)
{
    const uint32_t at = tests->words % DRNG_BITS_WINDOW;
    tests->changed = at == 0 ? 0 : tests->changed | change;
    return __builtin_expect(at + 1 < DRNG_BITS_WINDOW, 1) || tests->changed == UINT64_MAX;
}

/*
 * The standard's two tests compare with one word at a time, and a fault may keep time with their windows. So a hash of
 * each word leaves DRNG_PRINT_BITS of itself in the place that it chooses, until the next word of that place. A word
 * that finds its own print has come before, or is one of 2^16: it is the suspect, and no word may be equal to that. Nor
 * may DRNG_PRINT_CUTOFF prints be found in a window: words that come twice and never again. Words that share a place
 * hide each other, so every 2,048 words the hash is another. A print tells 23 bits of a word, and stays between seeds.
 */
static inline bool drng_recurrence_passes(struct drng_tests *tests, uint16_t *prints, uint64_t word)
{
    const unsigned turn = tests->words >> 8 & 56;
    const uint64_t hash = (word << turn | word >> (-turn & 63)) * UINT64_C(0x9e3779b97f4a7c15);
    uint16_t *place = &prints[hash >> 57];
    const uint16_t print = (uint16_t)(hash >> (57 - DRNG_PRINT_BITS));
    const bool recurs = *place == print;
    *place = print;
    if (__builtin_expect(!recurs && word != tests->suspect, 1)) {
        return true;
    }
    const bool is_suspect = word == tests->suspect && !drng_health_zeros_or_ones(word);
    tests->suspect = word;
    return !is_suspect && drng_rare_passes(&tests->recurring, tests->words, DRNG_PRINT_WINDOW, DRNG_PRINT_CUTOFF);
}

/*
 * Tests one word. False: tests->failed is the test that failed. A dead generator returns all zeros or all ones. Either
 * may legitimately come once, so the second of them in DRNG_STUCK_WINDOW words fails, wherever the two are.
 */
static inline bool drng_tests_pass(struct drng_tests *tests, uint16_t *prints, uint64_t word)
{
    const bool bits = drng_bits_pass(tests, tests->rct.run != 0 ? word ^ tests->rct.value : 0);
    const bool repetition = drng_rct_passes(&tests->rct, word, DRNG_WORD_RCT_CUTOFF);
    const bool proportion = drng_apt_passes(&tests->apt, word, DRNG_WORD_APT_CUTOFF);
    const bool recurrence = drng_recurrence_passes(tests, prints, word);
    const bool unstuck = __builtin_expect(!drng_health_zeros_or_ones(word), 1) ||
                         drng_rare_passes(&tests->stuck, tests->words, DRNG_STUCK_WINDOW, DRNG_STUCK_CUTOFF);
    tests->words++;
    if (__builtin_expect(repetition && proportion && recurrence && unstuck && bits, 1)) {
        return true;
    }
    tests->failed = !unstuck      ? DRNG_TEST_STUCK
                    : !repetition ? DRNG_TEST_REPETITION
                    : !proportion ? DRNG_TEST_PROPORTION
                    : !recurrence ? DRNG_TEST_RECURRENCE
                                  : DRNG_TEST_BITS;
    return false;
}

static inline bool drng_health_passes(struct drng_health *health, uint64_t word)
{
    return drng_tests_pass(&health->tests, health->prints, word);
}

/*
 * To be called when a seed has been made: of its last word the print stays, and the word does not. What remains between
 * seeds is 23 bits of each word whose print is there, the word that opened the window of the proportion test, the last
 * suspect, and which bits have changed in this window. To whoever reads that, eight words of 32 bits leave 8 x 9 bits.
 * Words that are output themselves are not forgotten: the same word in the next call is not to be handed out.
 */
static inline void drng_health_forget_last(struct drng_health *health)
{
    health->tests.rct = (struct drng_rct){0};
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
    unsigned trial;      /* the instruction's, when the first of these words came; 0: none has come */
};

/*
 * Tests the eight bytes of a word that has passed drng_health_passes(): as a sequence, least significant byte first,
 * and each byte in its lane. In the sequence, every window of 512 bytes starts with a byte of the lowest lane, so the
 * other seven lanes need tests of their own. False: *failed is the test.
 */
bool drng_startup_passes(struct drng_startup *startup, uint64_t word, enum drng_health_test *failed);
