/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES in plain C beside FIPS 197: each transformation, each step of the key schedules and each change of form is
 * compared for all inputs, on four blocks at once. That they are composed as the standard has it is a matter of known
 * answers.
 */

#include <string.h>

#include "mixing/aes/aes_portable.c"
#include "proof.h"

/* ---- FIPS 197 ---- */

/* Figure 7. */
static const uint8_t s_box[256] = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76, 0xca, 0x82, 0xc9,
    0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0, 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f,
    0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15, 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07,
    0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75, 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3,
    0x29, 0xe3, 0x2f, 0x84, 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58,
    0xcf, 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8, 0x51, 0xa3,
    0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2, 0xcd, 0x0c, 0x13, 0xec, 0x5f,
    0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73, 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88,
    0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb, 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac,
    0x62, 0x91, 0x95, 0xe4, 0x79, 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a,
    0xae, 0x08, 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a, 0x70,
    0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e, 0xe1, 0xf8, 0x98, 0x11,
    0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf, 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42,
    0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16};

/* 4.2.1 */
static uint8_t xtime(uint8_t a)
{
    return (uint8_t)((a << 1 ^ ((a & 0x80) != 0 ? 0x1b : 0)) & 0xff);
}

/* s[4 * c + r] is the byte of row r and column c: 3.4. */
static uint8_t model_shifted(const uint8_t s[BLOCK], size_t i)
{
    const size_t r = i % 4;
    const size_t c = i / 4;
    return s[4 * ((c + r) % 4) + r]; /* 5.1.2 */
}

static uint8_t model_mixed(const uint8_t s[BLOCK], size_t i)
{
    const size_t c = i / 4 * 4;
    const uint8_t a = s[c + i % 4];
    const uint8_t b = s[c + (i + 1) % 4];
    return xtime(a) ^ xtime(b) ^ b ^ s[c + (i + 2) % 4] ^ s[c + (i + 3) % 4]; /* 5.1.3 */
}

/* ---- Slices ---- */

struct four {
    uint8_t block[LANES][BLOCK];
};

/* Any byte of any of the four blocks. */
struct place {
    size_t lane;
    size_t byte;
};

static struct place any_place(void)
{
    const struct place place = {nondet_size(), nondet_size()};
    ASSUME(place.lane < LANES && place.byte < BLOCK);
    return place;
}

static uint8_t in_slices(const uint64_t q[SLICES], struct place place)
{
    const size_t bit = 16 * (place.byte % 4) + 4 * (place.byte / 4) + place.lane;
    uint8_t byte = 0;
    for (unsigned i = 0; i < SLICES; i++) {
        byte |= (uint8_t)((q[i] >> bit & 1) << i);
    }
    return byte;
}

void prove_forms(void)
{
    struct four blocks;
    uint8_t back[LANES][BLOCK];
    uint64_t q[SLICES];
    ANY(blocks);
    const struct place place = any_place();
    to_slices(q, (const uint8_t(*)[BLOCK])blocks.block);
    CLAIM(in_slices(q, place) == blocks.block[place.lane][place.byte], "every byte has its bits where the head says");
    from_slices(back, q);
    CLAIM(back[place.lane][place.byte] == blocks.block[place.lane][place.byte], "and comes back");
    REACHED("blocks");
}

/* Any slices are those of some blocks, by prove_forms. */
void prove_sub_bytes(void)
{
    uint64_t q[SLICES];
    uint64_t before[SLICES];
    ANY(q);
    memcpy(before, q, sizeof(q));
    const struct place place = any_place();
    drng_aes_sub_bytes(q);
    CLAIM(in_slices(q, place) == s_box[in_slices(before, place)], "SubBytes is the standard's table");
    REACHED("bytes");
}

static void blocks_of(uint8_t s[BLOCK], const uint64_t q[SLICES], size_t lane)
{
    for (size_t i = 0; i < BLOCK; i++) {
        s[i] = in_slices(q, (struct place){lane, i});
    }
}

void prove_shift_rows(void)
{
    uint64_t q[SLICES];
    uint8_t s[BLOCK];
    ANY(q);
    const struct place place = any_place();
    blocks_of(s, q, place.lane);
    shift_rows(q);
    CLAIM(in_slices(q, place) == model_shifted(s, place.byte), "ShiftRows");
    REACHED("bytes");
}

void prove_mix_columns(void)
{
    uint64_t q[SLICES];
    uint8_t s[BLOCK];
    ANY(q);
    const struct place place = any_place();
    blocks_of(s, q, place.lane);
    mix_columns(q);
    CLAIM(in_slices(q, place) == model_mixed(s, place.byte), "MixColumns");
    REACHED("bytes");
}

void prove_add_round_key(void)
{
    uint64_t q[SLICES];
    uint64_t key[SLICES];
    uint64_t before[SLICES];
    ANY(q);
    ANY(key);
    memcpy(before, q, sizeof(q));
    const struct place place = any_place();
    add_round_key(q, key);
    CLAIM(in_slices(q, place) == (in_slices(before, place) ^ in_slices(key, place)), "AddRoundKey");
    REACHED("bytes");
}

/* ---- Key schedules: 5.2. ---- */

void prove_sub_word(void)
{
    const uint32_t word = nondet_u32();
    const uint32_t after = sub_word(word);
    const unsigned shift = 8 * (unsigned)at_most(3);
    CLAIM((after >> shift & 0xff) == s_box[word >> shift & 0xff], "SubBytes of each byte");
    REACHED("words");
}

/* SubWord is any function of each byte here: prove_sub_word has it. */
uint8_t __CPROVER_uninterpreted_s(uint8_t byte);

uint32_t any_sub_word(uint32_t word)
{
    uint32_t after = 0;
    for (unsigned i = 0; i < 4; i++) {
        after |= (uint32_t)__CPROVER_uninterpreted_s((uint8_t)(word >> 8 * i)) << 8 * i;
    }
    return after;
}

enum { NK = KEY_LEN / 4, WORDS = 4 * (NK + 7) };

/* Figure 11, byte by byte. */
static void model_expand(uint8_t w[WORDS][4], const uint8_t key[KEY_LEN])
{
    uint8_t rcon = 1;
    memcpy(w, key, KEY_LEN);
    for (size_t i = NK; i < WORDS; i++) {
        for (size_t byte = 0; byte < 4; byte++) {
            uint8_t temp = w[i - 1][byte];
            if (i % NK == 0) {
                temp = __CPROVER_uninterpreted_s(w[i - 1][(byte + 1) % 4]) ^ (byte == 0 ? rcon : 0);
            } else if (NK > 6 && i % NK == 4) {
                temp = __CPROVER_uninterpreted_s(temp);
            }
            w[i][byte] = w[i - NK][byte] ^ temp;
        }
        rcon = i % NK == 0 ? xtime(rcon) : rcon;
    }
}

void prove_expand(void)
{
    uint8_t key[KEY_LEN];
    uint8_t w[WORDS][4];
    struct schedule schedule;
    ANY(key);
    expand(&schedule, key, KEY_LEN);
    model_expand(w, key);
    CLAIM(schedule.rounds == NK + 6, "10, 12 or 14 rounds");
    const struct place place = any_place();
    bool right = true;
    for (size_t round = 0; round < NK + 7; round++) {
        right = right && in_slices(schedule.key[round], place) == w[4 * round + place.byte / 4][place.byte % 4];
    }
    CLAIM(right, "each round key, in each of the four blocks");
    REACHED("round keys");
}

/* A round key: the same block in all four lanes. */
static void any_round_key(uint64_t key[SLICES], uint8_t block[BLOCK])
{
    uint8_t blocks[LANES][BLOCK];
    for (size_t i = 0; i < BLOCK; i++) {
        block[i] = nondet_u8();
        for (size_t lane = 0; lane < LANES; lane++) {
            blocks[lane][i] = block[i];
        }
    }
    to_slices(key, (const uint8_t(*)[BLOCK])blocks);
}

/* ---- The modes: which block goes through the cipher, and where to. The cipher adds any block to each. ---- */

static uint64_t added[SLICES];
static uint8_t added_block[BLOCK];

void any_expand(struct schedule *schedule, const uint8_t *key, size_t key_len)
{
    CLAIM(key_len == KEY_LEN && __CPROVER_r_ok(key, KEY_LEN), "the key is there");
    schedule->rounds = KEY_LEN / 4 + 6;
}

void any_rounds(const struct schedule *schedule, uint64_t q[SLICES])
{
    CLAIM(schedule->rounds == KEY_LEN / 4 + 6, "10, 12 or 14 rounds");
    add_round_key(q, added);
}

static u128 number_at(const uint8_t *block)
{
    const struct drng_counter number = drng_counter_load(block);
    return (u128)number.high << 64 | number.low;
}

static u128 encrypted(u128 block)
{
    return block ^ number_at(added_block);
}

enum { MOST_BLOCKS = 5, AREA = (MOST_BLOCKS + 1) * BLOCK };

/* Bytes of an area that a mode was given, from `at` on, are those from before. */
static bool is_left(const uint8_t area[AREA], const uint8_t before[AREA], size_t at)
{
    bool left = true;
    for (size_t i = at; i < AREA; i++) {
        left = left && area[i] == before[i];
    }
    return left;
}

static void prove_ctr(size_t out_blocks, size_t tail_blocks)
{
    uint8_t key[KEY_LEN];
    uint8_t v[BLOCK];
    uint8_t out[AREA];
    uint8_t tail[AREA];
    uint8_t before[2][AREA];
    memcpy(before[0], out, AREA);
    memcpy(before[1], tail, AREA);
    u128 counter = number_at(v);
    drng_aes_portable.ctr(key, KEY_LEN, v, out, out_blocks, tail, tail_blocks);
    bool right = true;
    for (size_t i = 0; i < out_blocks + tail_blocks; i++) {
        const uint8_t *block = i < out_blocks ? out + BLOCK * i : tail + BLOCK * (i - out_blocks);
        right = right && number_at(block) == encrypted(++counter);
    }
    CLAIM(right, "each block is that of its own counter, and in its place");
    CLAIM(number_at(v) == counter, "V ends as the last counter used");
    CLAIM(is_left(out, before[0], BLOCK * out_blocks) && is_left(tail, before[1], BLOCK * tail_blocks),
          "nothing else is written");
}

static void prove_cbc(size_t blocks, bool has_out, bool has_in)
{
    uint8_t key[KEY_LEN];
    uint8_t chain[BLOCK];
    uint8_t out[AREA];
    uint8_t in[AREA];
    uint8_t before[AREA];
    memcpy(before, out, AREA);
    u128 value = number_at(chain);
    drng_aes_portable.cbc(key, KEY_LEN, chain, has_out ? out : NULL, has_in ? in : NULL, blocks);
    bool right = true;
    for (size_t i = 0; i < blocks; i++) {
        value = encrypted(value ^ (has_in ? number_at(in + BLOCK * i) : 0));
        right = right && (!has_out || number_at(out + BLOCK * i) == value);
    }
    CLAIM(right && number_at(chain) == value, "each block is chained to the one before it");
    CLAIM(is_left(out, before, has_out ? BLOCK * blocks : 0), "nothing else is written");
}

/* Numbers of blocks are constants, so the prover knows each address; proofs.toml has them. */
void prove_modes(void)
{
    any_round_key(added, added_block);
#ifdef BLOCKS
    prove_ctr(BLOCKS, TAIL);
#else
    for (size_t blocks = 0; blocks <= 2; blocks++) {
        prove_cbc(blocks, false, false);
        prove_cbc(blocks, false, true);
        prove_cbc(blocks, true, false);
        prove_cbc(blocks, true, true);
    }
#endif
    REACHED("a mode");
}

#ifdef KNOWN
/* FIPS 197, appendix C: the composition. The prover computes with constants here. */
void prove_known_answers(void)
{
    static const uint8_t expected[3][16] = {
        {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a},
        {0xdd, 0xa9, 0x7c, 0xa4, 0x86, 0x4c, 0xdf, 0xe0, 0x6e, 0xaf, 0x70, 0xa0, 0xec, 0x0d, 0x71, 0x91},
        {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf, 0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89},
    };
    uint8_t key[KEY_LEN];
    uint8_t plaintext[BLOCK];
    uint8_t chain[BLOCK] = {0};
    for (unsigned i = 0; i < BLOCK; i++) {
        plaintext[i] = (uint8_t)(i * 0x11);
    }
    for (unsigned i = 0; i < KEY_LEN; i++) {
        key[i] = (uint8_t)i;
    }
    drng_aes_portable.cbc(key, KEY_LEN, chain, NULL, plaintext, 1);
    for (unsigned i = 0; i < BLOCK; i++) {
        CLAIM(chain[i] == expected[KEY_LEN / 8 - 2][i], "FIPS 197, appendix C");
    }
    REACHED("an answer");
}
#endif
