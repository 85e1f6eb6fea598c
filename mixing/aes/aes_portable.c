/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES in plain C, for processors without AES instructions. No table index and no branch depends on a secret, since both
 * show in the time they take: an S-box table reveals its index to every process that shares the cache.
 *
 * Bitslicing (Biham 1997; for AES Matsui 2006, and Kaesper and Schwabe 2009): four blocks are turned into eight 64-bit
 * words, the slices. Slice i holds bit i of each of the 64 bytes. So one AND or XOR of two slices does 64 bytes at
 * once, and the S-box is a circuit of such gates (aes_sbox.h).
 *
 * Bit 16 * r + 4 * c + b of a slice belongs to the byte in row r and column c of block b. A row is therefore 16 bits,
 * and a rotation of the whole word by 16 moves each row to the next. A column is four bits in each row, and a shift by
 * four moves each column to the next. Every operation treats all four blocks alike.
 *
 * A short request of the DRBG takes four blocks: one of output, three for Update. CBC can use only one block at a time
 * and wastes the other three, but seeds are rare.
 *
 * Key schedules are made in words, and then each round key fills the places of all four blocks. The wipe at the end of
 * `ctr` and `cbc` removes what is left on the stack.
 */

#include <string.h>

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_sbox.h"
#include "mixing/aes/schedule.h"
#include "mixing/machine/wipe.h"

enum {
    SLICES = DRNG_AES_SLICES,
    LANES = 4, /* blocks at once */
    BLOCK = DRNG_AES_BLOCK,
    MAX_ROUND_KEYS = 15,
};

#define EVERY_SECOND UINT64_C(0x00ff00ff00ff00ff) /* byte */
#define FIRST_BLOCKS UINT64_C(0x1111111111111111) /* the bits of block 0 */

/* ---- Blocks to slices and back ---- */

/* Exchanges the bits of `high` under mask with the bits of `low` that stand `shift` higher. */
static inline void swap_bits(uint64_t *low, uint64_t *high, uint64_t mask, unsigned shift)
{
    const uint64_t differ = ((*low >> shift) ^ *high) & mask;
    *high ^= differ;
    *low ^= differ << shift;
}

/*
 * Transposes eight 8x8 matrices of bits at once: bit j of byte k of word i is exchanged with bit i of byte k of word j.
 */
static inline void transpose(uint64_t q[SLICES])
{
    for (size_t i = 0; i < SLICES; i += 2) {
        swap_bits(&q[i], &q[i + 1], UINT64_C(0x5555555555555555), 1);
    }
    for (size_t i = 0; i < SLICES; i += (i & 1) != 0 ? 3 : 1) {
        swap_bits(&q[i], &q[i + 2], UINT64_C(0x3333333333333333), 2);
    }
    for (size_t i = 0; i < SLICES / 2; i++) {
        swap_bits(&q[i], &q[i + 4], UINT64_C(0x0f0f0f0f0f0f0f0f), 4);
    }
}

static inline uint32_t load_column(const uint8_t bytes[4])
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void store_column(uint8_t bytes[4], uint64_t column)
{
    for (unsigned row = 0; row < 4; row++) {
        bytes[row] = (uint8_t)(column >> 8 * row);
    }
}

/* Spreads the four bytes of a column over every second byte, starting with the lowest. */
static inline uint64_t spread(uint64_t column)
{
    column = (column | column << 16) & UINT64_C(0x0000ffff0000ffff);
    return (column | column << 8) & EVERY_SECOND;
}

static inline uint64_t gather(uint64_t spread_out)
{
    spread_out &= EVERY_SECOND;
    spread_out = (spread_out | spread_out >> 8) & UINT64_C(0x0000ffff0000ffff);
    return spread_out | spread_out >> 16;
}

/* Before the transposition word 4 * i + b holds columns i and i + 2 of block b, byte by byte in turn. */
static inline void to_slices(uint64_t q[SLICES], const uint8_t blocks[LANES][BLOCK])
{
    for (size_t b = 0; b < LANES; b++) {
        for (size_t i = 0; i < 2; i++) {
            q[4 * i + b] = spread(load_column(blocks[b] + 4 * i)) | spread(load_column(blocks[b] + 4 * (i + 2))) << 8;
        }
    }
    transpose(q);
}

static inline void from_slices(uint8_t blocks[LANES][BLOCK], uint64_t q[SLICES])
{
    transpose(q);
    for (size_t b = 0; b < LANES; b++) {
        for (size_t i = 0; i < 2; i++) {
            store_column(blocks[b] + 4 * i, gather(q[4 * i + b]));
            store_column(blocks[b] + 4 * (i + 2), gather(q[4 * i + b] >> 8));
        }
    }
}

/* ---- Rounds: FIPS 197, 5.1 ---- */

/* Rotates row r by r columns to the left: rows 1 and 3 by one, then rows 2 and 3 by two. */
static inline void shift_rows(uint64_t q[SLICES])
{
    for (size_t i = 0; i < SLICES; i++) {
        const uint64_t one = (q[i] & UINT64_C(0x0000ffff0000ffff)) | (q[i] >> 4 & UINT64_C(0x0fff00000fff0000)) |
                             (q[i] << 12 & UINT64_C(0xf0000000f0000000));
        const uint64_t differ = (one ^ one >> 8) & UINT64_C(0x00ff00ff00000000);
        q[i] = one ^ differ ^ differ << 8;
    }
}

/*
 * In each row: 2 a0 + 3 a1 + a2 + a3 = 2 (a0 + a1) + a1 + (a2 + a3). Doubling moves each slice to the next higher one;
 * the highest comes back multiplied by 0x1b.
 */
static inline void mix_columns(uint64_t q[SLICES])
{
    uint64_t sum[SLICES];
    uint64_t rest[SLICES];
    for (size_t i = 0; i < SLICES; i++) {
        const uint64_t below = q[i] >> 16 | q[i] << 48;
        sum[i] = q[i] ^ below;
        rest[i] = below ^ (sum[i] >> 32 | sum[i] << 32);
    }
    q[0] = rest[0] ^ sum[7];
    q[1] = rest[1] ^ sum[0] ^ sum[7];
    q[2] = rest[2] ^ sum[1];
    q[3] = rest[3] ^ sum[2] ^ sum[7];
    q[4] = rest[4] ^ sum[3] ^ sum[7];
    q[5] = rest[5] ^ sum[4];
    q[6] = rest[6] ^ sum[5];
    q[7] = rest[7] ^ sum[6];
}

static inline void add_round_key(uint64_t q[SLICES], const uint64_t key[SLICES])
{
    for (size_t i = 0; i < SLICES; i++) {
        q[i] ^= key[i];
    }
}

/* An expanded key; secret. */
struct schedule {
    uint64_t key[MAX_ROUND_KEYS][SLICES];
    size_t rounds; /* 10, 12 or 14 */
};

static void encrypt(const struct schedule *schedule, uint64_t q[SLICES])
{
    add_round_key(q, schedule->key[0]);
    for (size_t round = 1; round < schedule->rounds; round++) {
        drng_aes_sub_bytes(q);
        shift_rows(q);
        mix_columns(q);
        add_round_key(q, schedule->key[round]);
    }
    drng_aes_sub_bytes(q);
    shift_rows(q);
    add_round_key(q, schedule->key[schedule->rounds]);
}

/* ---- Key schedules: FIPS 197, 5.2 ---- */

static uint32_t sub_word(uint32_t word)
{
    const uint32_t lowest = 0x01010101; /* bit of each byte */
    uint64_t q[SLICES];
    for (unsigned i = 0; i < SLICES; i++) {
        q[i] = word >> i & lowest;
    }
    drng_aes_sub_bytes(q);
    word = 0;
    for (unsigned i = 0; i < SLICES; i++) {
        word |= ((uint32_t)q[i] & lowest) << i;
    }
    return word;
}

/* Copies one of four blocks into all of them. */
static inline uint64_t in_all_blocks(uint64_t slice, unsigned block)
{
    slice = slice >> block & FIRST_BLOCKS;
    slice |= slice << 1;
    return slice | slice << 2;
}

static void expand(struct schedule *schedule, const uint8_t *key, size_t key_len)
{
    uint32_t w[4 * (MAX_ROUND_KEYS + 1)] = {0};
    uint8_t blocks[LANES][BLOCK];
    uint64_t q[SLICES];
    schedule->rounds = make_schedule(w, key, key_len, sub_word);
    /* Four round keys become slices at once. */
    for (size_t round = 0; round <= schedule->rounds; round++) {
        if (round % LANES == 0) {
            for (size_t i = 0; i < sizeof(blocks) / 4; i++) {
                store_column(blocks[0] + 4 * i, w[4 * round + i]);
            }
            to_slices(q, (const uint8_t(*)[BLOCK])blocks);
        }
        for (size_t i = 0; i < SLICES; i++) {
            schedule->key[round][i] = in_all_blocks(q[i], round % LANES);
        }
    }
}

/* ---- The two modes ---- */

static DRNG_OWN_FRAME void keystream(const uint8_t *key, size_t key_len, const uint8_t v[BLOCK], struct drng_sink *sink)
{
    struct drng_counter counter = drng_counter_load(v);
    struct schedule schedule;
    uint8_t blocks[LANES][BLOCK];
    uint64_t q[SLICES];

    expand(&schedule, key, key_len);
    while (sink->out_blocks + sink->tail_blocks > 0) {
        for (size_t i = 0; i < LANES; i++) {
            drng_counter_add(&counter, 1);
            drng_counter_store(blocks[i], counter);
        }
        to_slices(q, (const uint8_t(*)[BLOCK])blocks);
        encrypt(&schedule, q);
        from_slices(blocks, q);
        for (size_t i = 0; i < LANES; i++) {
            uint8_t *place = drng_sink_next(sink);
            if (place != NULL) {
                memcpy(place, blocks[i], BLOCK);
            }
        }
    }
}

static DRNG_OWN_FRAME void count_on(uint8_t v[BLOCK], size_t blocks)
{
    struct drng_counter counter = drng_counter_load(v);
    drng_counter_add(&counter, blocks);
    drng_counter_store(v, counter);
}

static void ctr(const uint8_t *key, size_t key_len, uint8_t v[BLOCK], uint8_t *out, size_t out_blocks, uint8_t *tail,
                size_t tail_blocks)
{
    struct drng_sink sink = {out, out_blocks, tail, tail_blocks};
    keystream(key, key_len, v, &sink);
    count_on(v, out_blocks + tail_blocks);
    drng_wipe_stack_2048();
}

/* The chaining value stays in slices from block to block. Only block 0 of the four is used. */
static DRNG_OWN_FRAME void chain_blocks(const uint8_t *key, size_t key_len, uint8_t chain[BLOCK], uint8_t *out,
                                        const uint8_t *in, size_t count)
{
    struct schedule schedule;
    uint8_t blocks[LANES][BLOCK] = {{0}};
    uint64_t state[SLICES];
    uint64_t q[SLICES];

    expand(&schedule, key, key_len);
    memcpy(blocks[0], chain, BLOCK);
    to_slices(state, (const uint8_t(*)[BLOCK])blocks);
    for (size_t i = 0; i < count; i++) {
        if (in != NULL) {
            memcpy(blocks[0], in + i * BLOCK, BLOCK);
            to_slices(q, (const uint8_t(*)[BLOCK])blocks);
            add_round_key(state, q);
        }
        encrypt(&schedule, state);
        if (out != NULL) {
            memcpy(q, state, sizeof(q));
            from_slices(blocks, q);
            memcpy(out + i * BLOCK, blocks[0], BLOCK);
        }
    }
    from_slices(blocks, state);
    memcpy(chain, blocks[0], BLOCK);
}

static void cbc(const uint8_t *key, size_t key_len, uint8_t chain[BLOCK], uint8_t *out, const uint8_t *in,
                size_t blocks)
{
    chain_blocks(key, key_len, chain, out, in, blocks);
    drng_wipe_stack_2048();
}

const struct drng_aes drng_aes_portable = {.name = "portable", .ctr = ctr, .cbc = cbc};
