/* SPDX-License-Identifier: Apache-2.0 */
/* What a scripted instruction does when it is executed. */

#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"

bool scripted_execute(struct scripted_instruction *in, uint64_t *word)
{
    in->executions++;
    scripted_clock_ns += in->ns;
    *word = 0;
    if (!in->behaviour(in, word)) {
        return false;
    }
    if (in->log_len < SCRIPTED_LOG) {
        in->log[in->log_len++] = *word;
    }
    in->words++;
    return true;
}

/* SplitMix64 (Steele, Lea, Flood 2014): 64-bit words without repetition, which is all that is asked of it. */
bool scripted_good(struct scripted_instruction *in, uint64_t *word)
{
    in->state += 0x9e3779b97f4a7c15;
    uint64_t z = in->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    *word = z ^ z >> 31;
    return true;
}

bool scripted_zeros(struct scripted_instruction *in, uint64_t *word)
{
    *word = 0;
    return true;
}

bool scripted_ones(struct scripted_instruction *in, uint64_t *word)
{
    *word = UINT64_MAX;
    return true;
}

bool scripted_constant(struct scripted_instruction *in, uint64_t *word)
{
    *word = 0x0123456789abcdef;
    return true;
}

bool scripted_alternating(struct scripted_instruction *in, uint64_t *word)
{
    *word = in->words % 2 == 0 ? 0x0123456789abcdef : 0xfedcba9876543210;
    return true;
}

bool scripted_period_64(struct scripted_instruction *in, uint64_t *word)
{
    if (in->words % 64 == 0) {
        in->state = 0;
    }
    return scripted_good(in, word);
}

bool scripted_counting(struct scripted_instruction *in, uint64_t *word)
{
    *word = in->words + 2;
    return true;
}

bool scripted_counting_on(struct scripted_instruction *in, uint64_t *word)
{
    *word = in->state++;
    return true;
}

bool scripted_period(struct scripted_instruction *in, uint64_t *word)
{
    in->state = in->words % in->which;
    return scripted_good(in, word);
}

bool scripted_bits_stuck(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    const uint64_t stuck = UINT64_MAX >> (64 - in->which);
    *word = (*word & ~stuck) | (UINT64_C(0x6d2b79f5a341c08e) & stuck);
    return true;
}

bool scripted_nibbles(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    *word = (*word & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 0x11;
    return true;
}

bool scripted_dry(struct scripted_instruction *in, uint64_t *word)
{
    return false;
}

bool scripted_dry_until(struct scripted_instruction *in, uint64_t *word)
{
    return in->executions >= in->at && scripted_good(in, word);
}

bool scripted_dry_from(struct scripted_instruction *in, uint64_t *word)
{
    return in->words < in->at && scripted_good(in, word);
}

bool scripted_every(struct scripted_instruction *in, uint64_t *word)
{
    return in->executions % in->at == 0 && scripted_good(in, word);
}

bool scripted_seldom_dry(struct scripted_instruction *in, uint64_t *word)
{
    return in->executions % 25 != 0 && scripted_good(in, word);
}

bool scripted_mostly_dry(struct scripted_instruction *in, uint64_t *word)
{
    return in->executions % 25 == 0 && scripted_good(in, word);
}

static uint64_t last_word(const struct scripted_instruction *in)
{
    return in->log[in->log_len - 1];
}

bool scripted_bad_word(struct scripted_instruction *in, uint64_t *word)
{
    if (in->words == in->at) {
        *word = last_word(in);
        return true;
    }
    return scripted_good(in, word);
}

bool scripted_bad_words(struct scripted_instruction *in, uint64_t *word)
{
    if (in->words >= in->at) {
        *word = 0xdeaddeaddeaddead;
        return true;
    }
    return scripted_good(in, word);
}

bool scripted_single_zero(struct scripted_instruction *in, uint64_t *word)
{
    return in->words == in->at || scripted_good(in, word);
}

bool scripted_biased(struct scripted_instruction *in, uint64_t *word)
{
    uint64_t set = 0;
    for (unsigned i = 0; i < in->which; i++) {
        (void)scripted_good(in, word);
        set |= *word;
    }
    *word = set;
    return true;
}

static void put_byte(uint64_t *word, unsigned which, uint64_t value)
{
    *word = (*word & ~(UINT64_C(0xff) << 8 * which)) | value << 8 * which;
}

bool scripted_bit_at_0(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    *word &= in->words >= in->at ? ~(UINT64_C(1) << in->which) : UINT64_MAX;
    return true;
}

bool scripted_bit_at_1(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    *word |= in->words >= in->at ? UINT64_C(1) << in->which : 0;
    return true;
}

bool scripted_byte_stuck(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    if (in->words >= in->at) {
        put_byte(word, in->which, 0x6d);
    }
    return true;
}

bool scripted_byte_of_two(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    if (in->words >= in->at) {
        const bool one = (*word >> (8 * in->which + 3) & 1) != 0;
        put_byte(word, in->which, one ? 0x5c : 0xa3);
    }
    return true;
}
