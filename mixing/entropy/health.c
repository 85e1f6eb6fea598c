/* SPDX-License-Identifier: Apache-2.0 */
/* The repetition count and adaptive proportion tests, on words and on their bits. */

#include "mixing/entropy/health.h"

const char *drng_health_test_name(enum drng_health_test test)
{
    static const char *const names[] = {
        [DRNG_TEST_NONE] = "no test",
        [DRNG_TEST_STUCK] = "stuck value test",
        [DRNG_TEST_REPETITION] = "repetition count test",
        [DRNG_TEST_PROPORTION] = "adaptive proportion test",
        [DRNG_TEST_RECURRENCE] = "recurrence test",
        [DRNG_TEST_BITS] = "unchanging bits test",
        [DRNG_TEST_LANES] = "byte lanes test",
    };
    return names[test];
}

static const uint64_t one_a_lane = UINT64_C(0x0101010101010101);

/* 1 in each lane whose byte is zero, 0 in the others. */
static uint64_t zero_lanes(uint64_t word)
{
    const uint64_t low_bits = 0x7f * one_a_lane;
    const uint64_t nonzero = ((word & low_bits) + low_bits) | word; /* in the highest bit of each lane */
    return (~nonzero >> 7) & one_a_lane;
}

/*
 * The adaptive proportion test on eight sequences at once: sequence i consists of byte i, called lane i, of every word.
 * The window of each is the whole start-up. A count fails before it fills its byte, so no count carries into the next
 * lane.
 */
static bool lanes_pass(struct drng_startup *startup, uint64_t word)
{
    if (startup->lanes == 0) {
        startup->opening = word;
    }
    startup->lanes += zero_lanes(word ^ startup->opening);
    return ((startup->lanes + (0x80 - DRNG_LANE_APT_CUTOFF) * one_a_lane) & 0x80 * one_a_lane) == 0;
}

bool drng_startup_passes(struct drng_startup *startup, uint64_t word, enum drng_health_test *failed)
{
    enum drng_health_test test = DRNG_TEST_NONE;
    for (unsigned shift = 0; shift < 64 && test == DRNG_TEST_NONE; shift += 8) {
        const uint64_t byte = word >> shift & 0xff;
        test = !drng_rct_passes(&startup->rct, byte, DRNG_BYTE_RCT_CUTOFF)   ? DRNG_TEST_REPETITION
               : !drng_apt_passes(&startup->apt, byte, DRNG_BYTE_APT_CUTOFF) ? DRNG_TEST_PROPORTION
                                                                             : DRNG_TEST_NONE;
    }
    if (test == DRNG_TEST_NONE && !lanes_pass(startup, word)) {
        test = DRNG_TEST_LANES;
    }
    if (test != DRNG_TEST_NONE) {
        *failed = test;
        return false;
    }
    startup->words++;
    return true;
}
