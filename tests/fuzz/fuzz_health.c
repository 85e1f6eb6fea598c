/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The health tests against a reference that keeps every sample and counts afresh for each: SP 800-90B, 4.4.1 and 4.4.2
 * as they are written, and what health.h says of stuck values, words that recur, unchanging bits and byte lanes.
 */

#include <string.h>

#include "mixing/entropy/health.h"
#include "tests/fuzz/fuzz.h"

enum { SAMPLES = 8192 }; /* two windows of the prints, four turns of their hash; of bytes those of a start-up */

/* All samples since the tests began. */
struct history {
    uint64_t samples[SAMPLES];
    uint32_t prints[SAMPLES]; /* of words, with their places */
    size_t count;
};

static void add(struct history *history, uint64_t sample)
{
    history->samples[history->count++] = sample;
}

/* 4.4.1: the last C samples are the same. */
static bool repeats(const struct history *history, size_t cutoff)
{
    for (size_t i = 1; i < cutoff; i++) {
        if (history->count <= i || history->samples[history->count - 1 - i] != history->samples[history->count - 1]) {
            return false;
        }
    }
    return true;
}

/* 4.4.2: the first sample of this window has come C times or more in it, the last time just now. */
static bool is_too_frequent(const struct history *history, size_t cutoff)
{
    const size_t start = (history->count - 1) / DRNG_APT_WINDOW * DRNG_APT_WINDOW;
    size_t seen = 0;
    if (history->samples[history->count - 1] != history->samples[start]) {
        return false;
    }
    for (size_t i = start; i < history->count; i++) {
        seen += history->samples[i] == history->samples[start];
    }
    return seen >= cutoff;
}

static bool is_suspect(uint64_t word)
{
    return word == 0 || word == UINT64_MAX;
}

/* The numbers of the words at which something happened that is rare. */
struct events {
    size_t at[SAMPLES];
    size_t count;
};

/* Of windows, each opened by the first event after the one before, the last has `cutoff` events. */
static bool are_too_many(const struct events *events, size_t window, size_t cutoff)
{
    size_t since = 0;
    size_t seen = 0;
    for (size_t i = 0; i < events->count; i++) {
        if (seen == 0 || events->at[i] >= since + window) {
            since = events->at[i];
            seen = 0;
        }
        seen++;
    }
    return seen >= cutoff;
}

static struct events stuck;
static struct events recurring;

/* The last word is all zeros or all ones, and the window that it is in has one already. */
static bool is_stuck(const struct history *words)
{
    if (!is_suspect(words->samples[words->count - 1])) {
        return false;
    }
    stuck.at[stuck.count++] = words->count - 1;
    return are_too_many(&stuck, DRNG_STUCK_WINDOW, DRNG_STUCK_CUTOFF);
}

/* 7 bits for the place of a word's print and 16 of the print; with every 2,048 words the word is turned by a byte. */
static uint32_t place_and_print(size_t number, uint64_t word)
{
    for (size_t turns = number / 2048 % 8; turns > 0; turns--) {
        word = word << 8 | word >> 56;
    }
    return (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 41);
}

/* The last word before this one that left its print in the same place left the same; zeros are there at first. */
static bool has_its_print(const struct history *words)
{
    size_t i = words->count - 1;
    const uint32_t own = words->prints[i];
    while (i-- > 0) {
        if (words->prints[i] >> 16 == own >> 16) {
            return words->prints[i] == own;
        }
    }
    return (own & 0xffff) == 0;
}

/* The last word is the suspect, or there are too many. The first suspect is 0, which like all ones is only counted. */
static bool recurs(const struct history *words)
{
    const uint64_t word = words->samples[words->count - 1];
    const uint64_t suspect = recurring.count > 0 ? words->samples[recurring.at[recurring.count - 1]] : 0;
    if (!has_its_print(words) && word != suspect) {
        return false;
    }
    recurring.at[recurring.count++] = words->count - 1;
    return (word == suspect && !is_suspect(word)) || are_too_many(&recurring, DRNG_PRINT_WINDOW, DRNG_PRINT_CUTOFF);
}

/* At the end of a window: a bit is the same in all its words. */
static bool has_unchanging_bits(const struct history *words)
{
    uint64_t all = UINT64_MAX;
    uint64_t any = 0;
    if (words->count % DRNG_BITS_WINDOW != 0) {
        return false;
    }
    for (size_t i = words->count - DRNG_BITS_WINDOW; i < words->count; i++) {
        all &= words->samples[i];
        any |= words->samples[i];
    }
    return all != 0 || any != UINT64_MAX;
}

static enum drng_health_test expected_of_word(struct history *words, uint64_t word)
{
    words->prints[words->count] = place_and_print(words->count, word);
    add(words, word);
    if (is_stuck(words)) {
        return DRNG_TEST_STUCK;
    }
    /* 0 is the value before the first sample, and is no repetition of it. */
    if (repeats(words, DRNG_WORD_RCT_CUTOFF)) {
        return DRNG_TEST_REPETITION;
    }
    if (is_too_frequent(words, DRNG_WORD_APT_CUTOFF)) {
        return DRNG_TEST_PROPORTION;
    }
    if (recurs(words)) {
        return DRNG_TEST_RECURRENCE;
    }
    return has_unchanging_bits(words) ? DRNG_TEST_BITS : DRNG_TEST_NONE;
}

/* Whether the first byte of one of the lanes has come too often in it. */
static bool is_too_frequent_in_a_lane(const struct history *bytes)
{
    for (size_t lane = 0; lane < sizeof(uint64_t); lane++) {
        size_t seen = 0;
        for (size_t i = lane; i < bytes->count; i += sizeof(uint64_t)) {
            seen += bytes->samples[i] == bytes->samples[lane];
        }
        if (seen >= DRNG_LANE_APT_CUTOFF) {
            return true;
        }
    }
    return false;
}

static enum drng_health_test expected_of_bytes(struct history *bytes, uint64_t word)
{
    for (unsigned i = 0; i < sizeof(word); i++) {
        add(bytes, word >> 8 * i & 0xff);
        if (repeats(bytes, DRNG_BYTE_RCT_CUTOFF)) {
            return DRNG_TEST_REPETITION;
        }
        if (is_too_frequent(bytes, DRNG_BYTE_APT_CUTOFF)) {
            return DRNG_TEST_PROPORTION;
        }
    }
    return is_too_frequent_in_a_lane(bytes) ? DRNG_TEST_LANES : DRNG_TEST_NONE;
}

static struct history words;
static struct history bytes;

/* New words by the dozen, so that a short input reaches the end of a window; a bit of theirs may be stuck. */
struct run {
    unsigned left;
    uint64_t state;
    uint64_t stuck;
    uint64_t value;
};

static uint64_t next_of_run(struct run *run)
{
    run->left--;
    run->state += 0x9e3779b97f4a7c15;
    uint64_t z = (run->state ^ run->state >> 30) * 0xbf58476d1ce4e5b9;
    z ^= z >> 27; /* every bit of it changes soon */
    return (z & ~run->stuck) | (run->value & run->stuck);
}

static uint64_t next_word(struct fuzz_input *input, struct run *run)
{
    if (run->left > 0) {
        return next_of_run(run);
    }
    const uint8_t choice = fuzz_byte(input);
    switch (choice % 8) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2: /* one that has come before */
        return words.count > 0 ? words.samples[words.count - 1 - (choice * 7U) % words.count] : 1;
    case 3: /* the first one of this window */
        return words.samples[words.count / DRNG_APT_WINDOW * DRNG_APT_WINDOW];
    case 4: /* of one byte */
        return UINT64_C(0x0101010101010101) * fuzz_byte(input);
    case 5: /* one byte of it that has come before, the others new */
        return (fuzz_word(input) & ~UINT64_C(0xff00)) | (bytes.samples[1] << 8 & 0xff00);
    case 6:
        run->left = choice;
        run->stuck = UINT64_C(1) << fuzz_byte(input) % 64;
        run->value = choice % 16 == 6 ? UINT64_MAX : 0;
        return next_of_run(run);
    default:
        run->left = choice;
        run->stuck = 0;
        return fuzz_word(input);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input input = {data, len};
    struct drng_health health = {0};
    struct drng_startup startup = {0};
    struct run run = {0};

    words.count = 0;
    bytes.count = 0;
    stuck.count = 0;
    recurring.count = 0;
    memset(words.samples, 0, sizeof(words.samples));
    memset(bytes.samples, 0, sizeof(bytes.samples));
    while ((input.len > 0 || run.left > 0) && words.count < SAMPLES) {
        const uint64_t word = next_word(&input, &run);
        const enum drng_health_test expected = expected_of_word(&words, word);
        FUZZ_CHECK(drng_health_passes(&health, word) == (expected == DRNG_TEST_NONE));
        if (expected != DRNG_TEST_NONE) {
            FUZZ_CHECK(health.tests.failed == expected);
            break;
        }
        enum drng_health_test failed = DRNG_TEST_NONE;
        const unsigned tested = startup.words;
        const enum drng_health_test expected_at_start = expected_of_bytes(&bytes, word);
        FUZZ_CHECK(drng_startup_passes(&startup, word, &failed) == (expected_at_start == DRNG_TEST_NONE));
        FUZZ_CHECK(failed == expected_at_start);
        FUZZ_CHECK(startup.words == tested + (failed == DRNG_TEST_NONE));
        if (failed != DRNG_TEST_NONE || startup.words == DRNG_STARTUP_WORDS) {
            startup = (struct drng_startup){0}; /* the next one, while the words go on */
            bytes.count = 0;
        }
    }
    return 0;
}
