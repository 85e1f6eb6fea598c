/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/faults.h"

#include <stddef.h>

enum { MILLION = FAULTS_MILLION, SLOW_NS = 50000, BITS = 64, BYTES = 8 };

static const struct outcome serves = {.serves = true};
static const struct outcome serves_on = {.serves = true, .health_failures = 1}; /* what failed was thrown away */
static const struct outcome dries_up = {.serves = false};
static const struct outcome disabled = {.health_failures = 2, .disabled = true};

/*
 * Word 130 is the first of a window: 128 of the start-up tests and 2 of the key are before it.
 *
 * What has one bit or byte stuck is found by a test whose windows are 64 words: a steady instruction's in the block
 * under way, a starving one's when its reader has drawn some more seeds, of 24 words each. The second of those begins
 * with word 154, and in the sixth, from word 250 on, a window ends that saw nothing but the fault.
 */
const struct fault faults[] = {
    {"none", scripted_good, 0, 0, 0, 0, &serves, &serves, 0},
    {"all zeros", scripted_zeros, 0, 0, 0, 0, &disabled, &disabled, 0},
    {"all ones", scripted_ones, 0, 0, 0, 0, &disabled, &disabled, 0},
    {"a constant", scripted_constant, 0, 0, 0, 0, &disabled, &disabled, 0},
    {"two words in turn", scripted_alternating, 0, 0, 0, 0, &disabled, &disabled, 0},
    {"a period of 64 words", scripted_period_64, 0, 0, 0, 0, &disabled, &disabled, 0},
    {"counting", scripted_counting, 0, 0, 0, 0, &disabled, &disabled, 0},
    {"dry for ever", scripted_dry, 0, 0, 0, 0, &dries_up, &dries_up, 0},
    {"dry for 4 tries", scripted_dry_until, 5, 5, 0, 0, &serves, &serves, 0},
    {"dry for 1,000 tries", scripted_dry_until, 1000, 1000, 0, 0, &serves, &dries_up, 0},
    {"dry for four million tries", scripted_dry_until, 4 * MILLION, 4 * MILLION, 0, 0, &dries_up, &dries_up, 0},
    {"dry on one try of 25", scripted_seldom_dry, 0, 0, 0, 0, &serves, &serves, 0},
    {"dry on 24 tries of 25", scripted_mostly_dry, 0, 0, 0, 0, &serves, &dries_up, 0},
    {"dry from the middle of a block on", scripted_dry_from, 141, 3208, 0, 0, &dries_up, &dries_up, 0},
    {"one zero in the start-up tests", scripted_single_zero, 64, 64, 0, 0, &serves_on, &serves_on, 0},
    {"one zero in the middle of a block", scripted_single_zero, 141, 3208, 0, 0, &serves, &serves, 0},
    {"one bad word in the start-up tests", scripted_bad_word, 64, 64, 0, 0, &serves_on, &serves_on, 0},
    {"one bad word in the middle of a block", scripted_bad_word, 141, 3208, 0, 0, &serves_on, &serves_on, 0},
    {"every word bad from the middle of a block on", scripted_bad_words, 141, 3208, 0, 0, &disabled, &disabled, 0},
    {"every word bad after a million", scripted_bad_words, MILLION, MILLION, MILLION, 0, &disabled, &disabled, 0},
    {"a bit stuck at 0", scripted_bit_at_0, 0, 0, 0, 0, &disabled, &disabled, BITS},
    {"a bit stuck at 1", scripted_bit_at_1, 0, 0, 0, 0, &disabled, &disabled, BITS},
    {"a byte stuck", scripted_byte_stuck, 0, 0, 0, 0, &disabled, &disabled, BYTES},
    {"a byte of two values", scripted_byte_of_two, 0, 0, 0, 0, &disabled, &disabled, BYTES},
    {"a bit at 0 from the middle of a block on", scripted_bit_at_0, 141, 3208, 0, 0, &serves, &disabled, BITS},
    {"a bit at 1 from the middle of a block on", scripted_bit_at_1, 141, 3208, 0, 0, &serves, &disabled, BITS},
    {"a byte stuck from the middle of a block on", scripted_byte_stuck, 141, 3208, 0, 0, &serves, &disabled, BYTES},
    {"a bit at 0 for four seeds already", scripted_bit_at_0, 154, 0, 256, 0, &disabled, NULL, BITS},
    {"a bit at 1 for four seeds already", scripted_bit_at_1, 154, 0, 256, 0, &disabled, NULL, BITS},
    {"a byte stuck for four seeds already", scripted_byte_stuck, 154, 0, 256, 0, &disabled, NULL, BYTES},
    {"dry after a million words", scripted_dry_from, MILLION, MILLION, MILLION, 0, &dries_up, &dries_up, 0},
    {"500 us a read from the first on", scripted_good, 0, 0, 0, 10 * SLOW_NS, &dries_up, &dries_up, 0},
    {"50 us a read, once started", scripted_good, 0, 0, 4000, SLOW_NS, &serves, &dries_up, 0},
    {.name = NULL},
};
