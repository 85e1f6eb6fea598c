/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counter V in all forms in which the kernels count, beside addition modulo 2^128. The intrinsics are those of
 * models/immintrin.h: plain C of what Intel's manual says that they do. The functions are the product's own.
 */

#include <string.h>

#ifndef LANE_BLOCKS
#define LANE_BLOCKS 1
#endif
#include "mixing/aes/lanes_x86.h"
#include "proof.h"

static u128 v_of(struct drng_counter counter)
{
    return (u128)counter.high << 64 | counter.low;
}

static struct drng_counter any_counter(void)
{
    return (struct drng_counter){.high = nondet_u64(), .low = nondet_u64()};
}

/* A block as the 128-bit big-endian number that it is. */
static u128 big_endian(const uint8_t bytes[16])
{
    u128 number = 0;
    for (int i = 0; i < 16; i++) {
        number = number << 8 | bytes[i];
    }
    return number;
}

static u128 number_of_vector(__m128i block)
{
    uint8_t bytes[16];
    for (unsigned i = 0; i < 16; i++) {
        bytes[i] = byte_of_vector(block, i);
    }
    return big_endian(bytes);
}

void prove_scalar(void)
{
    struct drng_counter counter = any_counter();
    const u128 v = v_of(counter);
    const uint64_t blocks = nondet_u64();
    uint8_t bytes[16];
    ASSUME(blocks < UINT64_C(1) << 63);
    drng_counter_add(&counter, blocks);
    CLAIM(v_of(counter) == v + blocks, "V + n modulo 2^128");
    drng_counter_store(bytes, counter);
    CLAIM(big_endian(bytes) == v + blocks, "V is big-endian in memory");
    const struct drng_counter loaded = drng_counter_load(bytes);
    CLAIM(v_of(loaded) == v + blocks, "and is read as it was written");
    REACHED("a counter");
}

/* Any block of the most lanes that a kernel has, at any distance that a request has: 65,536 bytes are 4,096 blocks. */
void prove_lanes(void)
{
    enum { LANES = 9 };
    const struct drng_counter counter = any_counter();
    const size_t at = nondet_size();
    const unsigned i = nondet_unsigned();
    const unsigned place = nondet_unsigned();
    uint8_t bytes[16];
    lane block[LANES];
    ASSUME(at <= 5000 && i < LANES && place < LANE_BLOCKS);
    drng_counter_store(bytes, counter);
    count(add_number(load_number(bytes), at), block, LANES);
    CLAIM(number_of_vector(lane_block(block[i], place)) == v_of(counter) + at + LANE_BLOCKS * i + place + 1,
          "each block is that of its own counter");
    REACHED("blocks");
}

/* Any block of a group, and that what is left of the counter is right for the group after it. */
#if LANE_BLOCKS < 4
void prove_groups(void)
{
    enum { LANES = 8, GROUP = LANES * LANE_BLOCKS };
    const struct drng_counter counter = any_counter();
    const __m128i round_key = {{nondet_u64(), nondet_u64()}};
    const uint64_t first = counter.low % GROUP;
    const unsigned i = nondet_unsigned();
    const unsigned place = nondet_unsigned();
    struct drng_counter multiple = {counter.high, counter.low - first};
    lane low[LANES];
    lane carried[LANES];
    lane block[LANES];
    ASSUME(i < LANES && place < LANE_BLOCKS);
    split_counters(low, carried, LANES, first, round_key);
    count_group(low, carried, &multiple, block, LANES);
    CLAIM(number_of_vector(_mm_xor_si128(lane_block(block[i], place), round_key)) ==
              v_of(counter) + LANE_BLOCKS * i + place,
          "each block is that of its own counter, and has the round key");
    CLAIM(v_of(multiple) + first == v_of(counter) + GROUP, "the next group is the one after it");
    REACHED("a group");
}
#endif
