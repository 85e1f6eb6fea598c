/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_x86.h - AES and the counter V in registers, for the kernels of x86-64.
 *
 * A lane is a register of LANE_BLOCKS blocks, which the file that includes this one defines: 1 for AES-NI, 2 and 4 for
 * VAES. Everything here is inlined, with the number of lanes as a constant: the compiler keeps an array in registers
 * only if every index is one.
 *
 * AESKEYGENASSIST is slow on every CPU that has it. AESENCLAST does the same work: on a register with four equal
 * columns ShiftRows changes nothing, so AESENCLAST is SubWord and the addition of the round constant.
 */

#ifndef DRNG_LANES_X86_H
#define DRNG_LANES_X86_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/aes/aes.h"

/*
 * ---- A lane: its instructions, and what a function needs to use them ----
 *
 * lane_of() has a block in every place, and lane_block() is that in place i, a constant. lane_first has the numbers
 * from 1 on in the low words of its blocks. lane_carry() and lane_limits(): see count().
 */

#if LANE_BLOCKS == 1
typedef __m128i lane;
#ifdef LANE_AVX /* the same instructions with three operands: a quarter fewer */
#define LANE_TARGET __attribute__((target("aes,avx")))
#else
#define LANE_TARGET __attribute__((target("aes,sse4.2")))
#endif
#define lane_of(block)    (block)
#define lane_block(x, i)  (x)
#define lane_store(to, x) _mm_storeu_si128((__m128i *)(to), (x))
#define lane_first        _mm_set_epi64x(0, 1)
#define lane_add          _mm_add_epi64
#define lane_and          _mm_and_si128
#define lane_shuffle      _mm_shuffle_epi8
#define lane_xor          _mm_xor_si128
#define lane_round        _mm_aesenc_si128
#define lane_last_round   _mm_aesenclast_si128
#elif LANE_BLOCKS == 2
typedef __m256i lane;
#define LANE_TARGET                  __attribute__((target("vaes,avx2,aes")))
#define lane_of                      _mm256_broadcastsi128_si256
#define lane_block(x, i)             ((i) == 0 ? _mm256_castsi256_si128(x) : _mm256_extracti128_si256((x), 1))
#define lane_store(to, x)            _mm256_storeu_si256((__m256i *)(to), (x))
#define lane_first                   _mm256_set_epi64x(0, 2, 0, 1)
#define lane_limits(n)               _mm256_set_epi64x(INT64_MAX - 1 - (n), INT64_MAX, INT64_MAX - (n), INT64_MAX)
#define lane_carry(sum, low, limits) _mm256_sub_epi64((sum), _mm256_cmpgt_epi64((low), (limits)))
#define lane_add                     _mm256_add_epi64
#define lane_and                     _mm256_and_si256
#define lane_shuffle                 _mm256_shuffle_epi8
#define lane_xor                     _mm256_xor_si256
#define lane_round                   _mm256_aesenc_epi128
#define lane_last_round              _mm256_aesenclast_epi128
#else
typedef __m512i lane;
#define LANE_TARGET __attribute__((target("vaes,avx512f,avx512bw,aes")))
#define lane_of     _mm512_broadcast_i32x4
#define lane_block(x, i)                                                                                               \
    ((i) == 0   ? _mm512_castsi512_si128(x)                                                                            \
     : (i) == 1 ? _mm512_extracti32x4_epi32((x), 1)                                                                    \
     : (i) == 2 ? _mm512_extracti32x4_epi32((x), 2)                                                                    \
                : _mm512_extracti32x4_epi32((x), 3))
#define lane_store _mm512_storeu_si512
#define lane_first _mm512_set_epi64(0, 4, 0, 3, 0, 2, 0, 1)
#define lane_limits(n)                                                                                                 \
    _mm512_set_epi64(INT64_MAX - 3 - (n), INT64_MAX, INT64_MAX - 2 - (n), INT64_MAX, INT64_MAX - 1 - (n), INT64_MAX,   \
                     INT64_MAX - (n), INT64_MAX)
#define lane_carry(sum, low, limits)                                                                                   \
    _mm512_mask_add_epi64((sum), _mm512_cmpgt_epi64_mask((low), (limits)), (sum), _mm512_set1_epi64(1))
#define lane_add        _mm512_add_epi64
#define lane_and        _mm512_and_si512
#define lane_shuffle    _mm512_shuffle_epi8
#define lane_xor        _mm512_xor_si512
#define lane_round      _mm512_aesenc_epi128
#define lane_last_round _mm512_aesenclast_epi128
#endif

#define LANE_INLINE static inline __attribute__((always_inline)) LANE_TARGET

/* To be put before a loop whose index has to be a constant. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* The rounds of a long request: only registers of 512 bits are so many that they hold the round keys. */
#if LANE_BLOCKS == 4
#define UNROLL_ROUNDS UNROLL
#else
#define UNROLL_ROUNDS
#endif

/*
 * Computes this value before what follows in the source. The compiler would do all rounds of one lane before those of
 * the next, and have all round keys wait in memory.
 */
#define NOW(value) __asm__ volatile("" : "+x"(value))
#if LANE_BLOCKS == 1
#define ROUND_NOW NOW
#else
#define ROUND_NOW(block) ((void)0)
#endif

/* What this points to is read after this line, and not before: GCC 16 would keep all constants on the stack. */
#define READ_LATE(pointer) __asm__ volatile("" : "+r"(pointer))

/* FIPS 197's Rcon, in all four columns. */
#define RCON(value)                                                                                                    \
    {                                                                                                                  \
        (value), (value), (value), (value)                                                                             \
    }
static const _Alignas(16) uint32_t round_constants[][4] = {RCON(0x01), RCON(0x02), RCON(0x04), RCON(0x08), RCON(0x10),
                                                           RCON(0x20), RCON(0x40), RCON(0x80), RCON(0x1b), RCON(0x36)};

/* ---- Round keys: FIPS 197, 5.2 ---- */

enum { ROUND_KEYS = 15 }; /* of AES-256 */

/* Bytes 1, 2, 3, 0 of this column in all four: RotWord. column is a constant from 0 to 3. */
#define rotated(key, column) _mm_shuffle_epi8((key), _mm_set1_epi32(0x00030201 + 0x04040404 * (column)))

/*
 * FIPS 197's w[i] to w[i+3] for Nk = 8, `key` being the four words eight before them, and `word` in all four columns
 * what goes into SubWord. Each is the XOR of the words of `key` up to its place, SubWord(word) and rcon. AESENCLAST
 * adds the first of these, which takes the addition out of the way from one round key to the next; nor is rcon waited
 * for.
 */
LANE_INLINE __m128i next_key(__m128i key, __m128i word, __m128i rcon)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    key = _mm_xor_si128(_mm_xor_si128(key, rcon), _mm_slli_si128(key, 8));
    key = _mm_aesenclast_si128(word, key);
    NOW(key);
    return key;
}

/*
 * For Nk = 4 and 6: the next round key is prefix(key) ^ (w, w, w, w), where prefix(x) is (x0, x0^x1, x0^x1^x2,
 * x0^x1^x2^x3) and w is SubWord and rcon, the slow part. The round key after it needs
 * prefix(prefix(key) ^ (w, w, w, w)) = prefix(prefix(key)) ^ (w, 0, w, 0). So rest_of(x) = prefix(x) ^ (x0, 0, x2, 0)
 * is computed before w is there: the rest of the next key is rest_of(prefix(key)).
 */
LANE_INLINE __m128i rest_of(__m128i key)
{
    const __m128i masked = _mm_and_si128(key, _mm_set_epi32(0, -1, 0, -1));
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    return _mm_xor_si128(masked, _mm_xor_si128(key, _mm_slli_si128(key, 8)));
}

/* The round key after `key`, whose rest is *rest; that becomes the new one's. */
LANE_INLINE __m128i next_with_rest(__m128i key, __m128i *rest, __m128i word, __m128i rcon)
{
    const __m128i masked = _mm_and_si128(key, _mm_set_epi32(0, -1, 0, -1));
    const __m128i added = _mm_xor_si128(masked, _mm_xor_si128(*rest, rcon));
    *rest = rest_of(_mm_xor_si128(masked, *rest));
    key = _mm_aesenclast_si128(word, added);
    NOW(key);
    return key;
}

/* Six new words from the six before them: *low holds the first four, the low half of *high the other two. */
LANE_INLINE void step_192(__m128i *low, __m128i *rest, __m128i *high, __m128i rcon)
{
    *low = next_with_rest(*low, rest, rotated(*high, 1), rcon);
    *high = _mm_xor_si128(_mm_xor_si128(*high, _mm_slli_si128(*high, 4)), _mm_shuffle_epi32(*low, 0xff));
}

/* ---- Rounds ---- */

LANE_INLINE void add_round_key(lane *block, const int lanes, __m128i round_key)
{
    UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = lane_xor(block[i], lane_of(round_key));
        ROUND_NOW(block[i]);
    }
}

LANE_INLINE void do_round(lane *block, const int lanes, __m128i round_key)
{
    UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = lane_round(block[i], lane_of(round_key));
        ROUND_NOW(block[i]);
    }
}

LANE_INLINE void do_last_round(lane *block, const int lanes, __m128i round_key)
{
    UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = lane_last_round(block[i], lane_of(round_key));
    }
}

/* A key begins its schedule: that of AES-256 with two round keys, the others with one and, of AES-192, a half. */
LANE_INLINE void load_key(__m128i rk[ROUND_KEYS], const uint8_t *key, size_t key_len)
{
    rk[0] = _mm_loadu_si128((const __m128i *)key);
    rk[1] = key_len == 32 ? _mm_loadu_si128((const __m128i *)(key + 16))
                          : _mm_loadl_epi64((const __m128i *)(key + key_len - 8));
}

/*
 * Encrypts all lanes and computes the round keys behind the key, which is in rk: none is read from memory, and the
 * latency of the key schedule hides the rounds. Each round key is computed before the round with the one before it,
 * since a CPU begins with what stands first, and the next round key is what everything waits for. rk receives them, for
 * further blocks.
 */
LANE_INLINE void expand_and_encrypt(__m128i rk[ROUND_KEYS], size_t key_len, lane *block, const int lanes)
{
    const __m128i *rcon = (const __m128i *)round_constants;

    add_round_key(block, lanes, rk[0]);
    if (key_len == 32) {
        UNROLL
        for (int i = 2; i <= 14; i++) {
            READ_LATE(rcon);
            rk[i] = i % 2 == 0 ? next_key(rk[i - 2], rotated(rk[i - 1], 3), rcon[i / 2 - 1])
                               : next_key(rk[i - 2], _mm_shuffle_epi32(rk[i - 1], 0xff), _mm_setzero_si128());
            do_round(block, lanes, rk[i - 1]);
        }
        do_last_round(block, lanes, rk[14]);
    } else if (key_len == 16) {
        __m128i rest = rest_of(rk[0]);
        rk[1] = next_with_rest(rk[0], &rest, rotated(rk[0], 3), rcon[0]);
        UNROLL
        for (int i = 2; i <= 10; i++) {
            READ_LATE(rcon);
            rk[i] = next_with_rest(rk[i - 1], &rest, rotated(rk[i - 1], 3), rcon[i - 1]);
            do_round(block, lanes, rk[i - 1]);
        }
        do_last_round(block, lanes, rk[10]);
    } else {
        __m128i low = rk[0];
        __m128i high = rk[1];
        __m128i rest = rest_of(low);
        UNROLL
        for (int i = 1, n = 0; i <= 12; i += 3, n += 2) { /* two steps of six words make three round keys */
            READ_LATE(rcon);
            rk[i] = high;
            step_192(&low, &rest, &high, rcon[n]);
            rk[i] = _mm_unpacklo_epi64(rk[i], low);
            rk[i + 1] = _mm_unpacklo_epi64(_mm_srli_si128(low, 8), high);
            step_192(&low, &rest, &high, rcon[n + 1]);
            rk[i + 2] = low;
            if (i > 1) {
                do_round(block, lanes, rk[i - 1]);
            }
            do_round(block, lanes, rk[i]);
            do_round(block, lanes, rk[i + 1]);
        }
        do_last_round(block, lanes, rk[12]);
    }
}

/* All rounds, after the addition of rk[0]. */
LANE_INLINE void do_rounds(const __m128i rk[ROUND_KEYS], size_t key_len, lane *block, const int lanes)
{
    const int rounds = (int)(key_len / 4 + 6);

    UNROLL_ROUNDS
    for (int i = 1; i < rounds; i++) {
        do_round(block, lanes, rk[i]);
    }
    do_last_round(block, lanes, rk[rounds]);
}

/* ---- The counter V ---- */

#define BIG_ENDIAN_BLOCK _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

/* A counter as a pair of words (low, high), little-endian. */
LANE_INLINE __m128i load_number(const uint8_t v[DRNG_AES_BLOCK])
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)v), BIG_ENDIAN_BLOCK);
}

/* Less than 2^63 is added, so the low word has wrapped if its top bit was 1 and is 0: no branch depends on V. */
LANE_INLINE __m128i add_number(__m128i number, size_t blocks)
{
    const __m128i sum = _mm_add_epi64(number, _mm_cvtsi64_si128((long long)blocks));
    return _mm_add_epi64(sum, _mm_slli_si128(_mm_srli_epi64(_mm_andnot_si128(sum, number), 63), 8));
}

/*
 * The blocks of the counters after `from`. V and secrets decide no branch: that the low word wraps is compared.
 *
 * One block a lane: subtracting a comparison that holds, which is -1, adds one. It always holds in the place of the low
 * word, where both sides are 0. That of the high word has the low word of `from`, which wraps at the i-th step if it
 * was 2^64 - i.
 *
 * More blocks a lane: the low word of `from` wraps when n is added if it is greater than 2^64 - 1 - n. SSE compares
 * signed numbers, so 2^63 is subtracted from both. The comparison that counts stands in the place of the high word,
 * which takes the carry; in that of the low word the limit is INT64_MAX, so that never carries.
 */
#if LANE_BLOCKS == 1
static const _Alignas(16) uint64_t wrapping[][2] = {{0, -1ULL}, {0, -2ULL}, {0, -3ULL}, {0, -4ULL}, {0, -5ULL},
                                                    {0, -6ULL}, {0, -7ULL}, {0, -8ULL}, {0, -9ULL}};

LANE_INLINE void count(__m128i from, lane *block, const int lanes)
{
    const __m128i *wraps = (const __m128i *)wrapping;
    const __m128i low = _mm_slli_si128(from, 8);

    UNROLL
    for (int i = 0; i < lanes; i++) {
        READ_LATE(wraps);
        from = _mm_sub_epi64(from, _mm_cmpeq_epi64(low, wraps[i]));
        block[i] = _mm_shuffle_epi8(from, BIG_ENDIAN_BLOCK);
    }
}
#else
LANE_INLINE void count(__m128i from, lane *block, const int lanes)
{
    const lane low = lane_of(_mm_xor_si128(_mm_unpacklo_epi64(from, from), _mm_set1_epi64x(INT64_MIN)));
    lane sum = lane_add(lane_of(from), lane_first);

    UNROLL
    for (int i = 0; i < lanes; i++) {
        const lane carried = lane_carry(sum, low, lane_limits(1 + LANE_BLOCKS * i));
        block[i] = lane_shuffle(carried, lane_of(BIG_ENDIAN_BLOCK));
        sum = lane_add(sum, lane_of(_mm_set_epi64x(0, LANE_BLOCKS)));
    }
}
#endif

LANE_INLINE __m128i block_of(struct drng_counter counter)
{
    return _mm_set_epi64x((long long)htobe64(counter.low), (long long)htobe64(counter.high));
}

/*
 * What the counters of long_request() have in common from group to group. Each group starts at a multiple of its length
 * and the same `first`. So the lowest bits of a lane's counters never change, and `low` is these and round_key;
 * `carried` is ones where a counter is past the next multiple, else zeros. A group has 16 counters at most.
 */
LANE_INLINE void split_counters(lane *low, lane *carried, const int lanes, uint64_t first, __m128i round_key)
{
    const int group = lanes * LANE_BLOCKS;
    const uint64_t lowest = (uint64_t)(uint8_t)(group - 1) << 56;
    const __m128i from_0 = _mm_set_epi8(14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15); /* in byte 1 */
    const __m128i number = _mm_add_epi8(_mm_set1_epi8((char)first), from_0);
    const __m128i past = _mm_cmpgt_epi8(number, _mm_set1_epi8((char)(group - 1)));
    const __m128i low_bits = _mm_set_epi64x((long long)lowest, 0);

    UNROLL
    for (int i = 0; i < lanes; i++) {
        const lane place = lane_add(lane_shuffle(lane_first, lane_of(_mm_setzero_si128())),
                                    lane_of(_mm_set1_epi8((char)(i * LANE_BLOCKS))));
        low[i] = lane_xor(lane_and(lane_shuffle(lane_of(number), place), lane_of(low_bits)), lane_of(round_key));
        carried[i] = lane_shuffle(lane_of(past), place);
    }
}

/* The blocks of the next group, its round_key added; *multiple ends as that of the group after it. */
LANE_INLINE void count_group(const lane *low, const lane *carried, struct drng_counter *multiple, lane *block,
                             const int lanes)
{
    const __m128i from = block_of(*multiple);
    drng_counter_add(multiple, (uint64_t)lanes * LANE_BLOCKS);
    const __m128i change = _mm_xor_si128(from, block_of(*multiple));

    UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = lane_xor(lane_xor(lane_and(carried[i], lane_of(change)), lane_of(from)), low[i]);
    }
}

/* ---- Requests ---- */

enum { MOST_LANES = 12 }; /* of a short request */

/* Where the output goes, and how much of it is still to come. */
struct output {
    uint8_t *to;
    size_t len;
};

/* Stores a block, or as much of it as there is room for: cut in registers, as a copy in memory would be to wipe. */
LANE_INLINE void take(struct output *out, __m128i block)
{
    if (out->len >= DRNG_AES_BLOCK) {
        _mm_storeu_si128((__m128i *)out->to, block);
        out->to += DRNG_AES_BLOCK;
        out->len -= DRNG_AES_BLOCK;
    } else if (out->len > 0) {
        if ((out->len & 8) != 0) {
            _mm_storel_epi64((__m128i *)out->to, block);
            block = _mm_srli_si128(block, 8);
            out->to += 8;
        }
        uint64_t word = (uint64_t)_mm_cvtsi128_si64(block);
        for (; (out->len & 7) != 0; out->len--) {
            *out->to++ = (uint8_t)word;
            word >>= 8;
        }
        out->len = 0;
    }
}

/*
 * The last steps of CTR_DRBG_Update (SP 800-90A, 10.2.1.2), whose temp is the first three of these blocks: Key begins a
 * schedule. Key of AES-192 ends, and V starts, in the middle of the second one, whose rest the schedule does not read.
 * AES-128 has no use for the third. Returns V.
 */
LANE_INLINE __m128i end_update(__m128i rk[ROUND_KEYS], size_t key_len, const lane *block, const uint8_t *fresh)
{
    const __m128i third = lane_block(block[2 / LANE_BLOCKS], 2 % LANE_BLOCKS);
    rk[0] = lane_block(block[0], 0);
    rk[1] = lane_block(block[1 / LANE_BLOCKS], 1);
    if (fresh != NULL) {
        rk[0] = _mm_xor_si128(rk[0], _mm_loadl_epi64((const __m128i *)fresh));
    }
    return key_len == 32 ? third : key_len == 16 ? rk[1] : _mm_alignr_epi8(third, rk[1], 8);
}

enum { UPDATE = (3 + LANE_BLOCKS - 1) / LANE_BLOCKS }; /* lanes of an Update; AES-128 does without the third block */

/*
 * drng_aes.request. The blocks of the Update after the output come last. Every lane goes through each round, even if
 * the request does not need it: with a number of lanes that is not constant the compiler would keep them in memory.
 * Where the output has two blocks at most, its lanes are as many as it needs, and one run of the counter makes all.
 * Between two Updates Key and V stay in registers.
 */
LANE_INLINE void short_request(uint8_t *key, size_t key_len, uint8_t *v, uint8_t *out, size_t out_len,
                               const uint8_t *fresh, const int lanes)
{
    const int of_output = lanes - UPDATE;
    struct output output = {out, out_len};
    __m128i from = load_number(v);
    __m128i rk[ROUND_KEYS];
    lane block[MOST_LANES];

    load_key(rk, key, key_len);
    if (fresh != NULL) {
        count(from, block, UPDATE);
        expand_and_encrypt(rk, key_len, block, UPDATE);
        from = _mm_shuffle_epi8(end_update(rk, key_len, block, fresh), BIG_ENDIAN_BLOCK);
    }
    if (of_output <= 2 / LANE_BLOCKS) {
        count(from, block, lanes);
    } else {
        count(add_number(from, (out_len + DRNG_AES_BLOCK - 1) / DRNG_AES_BLOCK), block + of_output, UPDATE);
        count(from, block, of_output);
    }
    expand_and_encrypt(rk, key_len, block, lanes);
    UNROLL
    for (int i = 0; i < of_output; i++) {
        UNROLL
        for (int j = 0; j < LANE_BLOCKS; j++) {
            take(&output, lane_block(block[i], j));
            NOW(block[i]); /* else the compiler extracts all blocks at once, and has too few registers */
        }
    }
    _mm_storeu_si128((__m128i *)v, end_update(rk, key_len, block + of_output, fresh));
    _mm_store_si128((__m128i *)key, rk[0]);
    _mm_store_si128((__m128i *)(key + 16), rk[1]); /* also where Key is shorter */
}

/* Defines a short_request() of so many lanes with a frame of its own, which its caller wipes. */
#define SHORT_REQUEST(name, lanes)                                                                                     \
    LANE_TARGET DRNG_OWN_FRAME static void name(uint8_t *key, size_t key_len, uint8_t *v, uint8_t *out,                \
                                                size_t out_len, const uint8_t *fresh)                                  \
    {                                                                                                                  \
        short_request(key, key_len, v, out, out_len, fresh, (lanes));                                                  \
    }

/* Stores the first `blocks` of them, or all. */
LANE_INLINE void put(uint8_t *out, size_t blocks, const lane *block, const int lanes)
{
    if (blocks >= (size_t)lanes * LANE_BLOCKS) {
        UNROLL
        for (int i = 0; i < lanes; i++) {
            lane_store(out + (size_t)i * LANE_BLOCKS * DRNG_AES_BLOCK, block[i]);
        }
        return;
    }
    UNROLL
    for (int i = 0; i < lanes; i++) {
        UNROLL
        for (int j = 0; j < LANE_BLOCKS; j++) {
            const size_t place = (size_t)i * LANE_BLOCKS + (size_t)j;
            if (place < blocks) {
                _mm_storeu_si128((__m128i *)out + place, lane_block(block[i], j));
            }
        }
    }
}

/*
 * drng_aes.ctr, with eight lanes in flight, which hides the latency of AESENC on every CPU. The tail is made first,
 * along with the key schedule: in a request it is the next Key and V, which the next request waits for. A group's
 * counters and their AddRoundKey take three instructions a lane by split_counters(), where count() takes five and one:
 * AESENC waits for these. Not in registers of 512 bits, which hold the round keys.
 */
LANE_INLINE void long_request(const uint8_t *key, size_t key_len, uint8_t *v, uint8_t *out, size_t out_blocks,
                              uint8_t *tail, size_t tail_blocks)
{
    enum { LANES = 8, GROUP = LANES * LANE_BLOCKS, TAIL = DRNG_AES_TAIL / LANE_BLOCKS, SPLIT = LANE_BLOCKS < 4 };
    const __m128i before = load_number(v);
    struct drng_counter at = drng_counter_load(v);
    __m128i rk[ROUND_KEYS];
    lane block[LANES];
    lane low[LANES];
    lane carried[LANES];

    count(add_number(before, out_blocks), block, TAIL);
    count(before, block + TAIL, LANES - TAIL);
    load_key(rk, key, key_len);
    expand_and_encrypt(rk, key_len, block, LANES);
    put(tail, tail_blocks, block, TAIL);
    put(out, out_blocks, block + TAIL, LANES - TAIL);
    drng_counter_add(&at, GROUP - DRNG_AES_TAIL + 1);
    if (SPLIT && out_blocks > GROUP - DRNG_AES_TAIL) {
        split_counters(low, carried, LANES, at.low % GROUP, rk[0]);
        at.low -= at.low % GROUP;
    }
    for (size_t done = GROUP - DRNG_AES_TAIL; done < out_blocks; done += GROUP) {
        if (SPLIT) {
            count_group(low, carried, &at, block, LANES);
        } else {
            count(add_number(before, done), block, LANES);
            add_round_key(block, LANES, rk[0]);
        }
        do_rounds(rk, key_len, block, LANES);
        put(out + done * DRNG_AES_BLOCK, out_blocks - done, block, LANES);
    }
    _mm_storeu_si128((__m128i *)v, _mm_shuffle_epi8(add_number(before, out_blocks + tail_blocks), BIG_ENDIAN_BLOCK));
}

#endif
