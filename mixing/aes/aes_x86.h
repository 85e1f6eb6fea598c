/*
 * aes_x86.h - AES in registers: the key schedules, rounds and counters that the x86-64 kernels share.
 *
 * AESKEYGENASSIST is slow on every CPU that has it. AESENCLAST does the same work: on a register with four equal
 * columns ShiftRows changes nothing, so AESENCLAST is SubWord and the addition of the round constant.
 */

#ifndef DRNG_AES_X86_H
#define DRNG_AES_X86_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/aes/counter_block.h"

#define DRNG_AES_TARGET __attribute__((target("aes,ssse3")))
#define DRNG_AES_INLINE static inline __attribute__((always_inline, target("aes,ssse3")))

/* To be put before a loop over lanes. The compiler keeps lanes in registers only if every index is a constant. */
#ifdef __clang__
#define DRNG_AES_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DRNG_AES_UNROLL _Pragma("GCC unroll 16")
#endif

/* ---- Key schedules: FIPS 197, 5.2 ---- */

/* w0, w0^w1, w0^w1^w2, w0^w1^w2^w3: each word of a round key is the XOR of the words up to it. */
DRNG_AES_INLINE __m128i drng_aes_prefix(__m128i key)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    return _mm_xor_si128(key, _mm_slli_si128(key, 8));
}

/* SubWord(RotWord(column)) ^ rcon in all four columns. column is a constant from 0 to 3. */
DRNG_AES_INLINE __m128i drng_aes_sub_rot(__m128i key, int column, int rcon)
{
    /* Bytes 1, 2, 3, 0 of the column. */
    const __m128i rotation = _mm_set1_epi32(0x00030201 + 0x04040404 * column);
    return _mm_aesenclast_si128(_mm_shuffle_epi8(key, rotation), _mm_set1_epi32(rcon));
}

/*
 * The round key after `key` for Nk = 4, where last = key. For Nk = 8 the round key two after `key`, where last is the
 * one between.
 */
DRNG_AES_INLINE __m128i drng_aes_next_key(__m128i key, __m128i last, int rcon)
{
    return _mm_xor_si128(drng_aes_prefix(key), drng_aes_sub_rot(last, 3, rcon));
}

/* For Nk = 8 and i mod 8 = 4: SubWord without RotWord and round constant. */
DRNG_AES_INLINE __m128i drng_aes_next_odd_key(__m128i key, __m128i last)
{
    const __m128i column = _mm_shuffle_epi32(last, 0xff);
    return _mm_xor_si128(drng_aes_prefix(key), _mm_aesenclast_si128(column, _mm_setzero_si128()));
}

DRNG_AES_INLINE void drng_aes_expand_128(__m128i rk[11], const uint8_t key[16])
{
    rk[0] = _mm_loadu_si128((const __m128i *)key);
    rk[1] = drng_aes_next_key(rk[0], rk[0], 0x01);
    rk[2] = drng_aes_next_key(rk[1], rk[1], 0x02);
    rk[3] = drng_aes_next_key(rk[2], rk[2], 0x04);
    rk[4] = drng_aes_next_key(rk[3], rk[3], 0x08);
    rk[5] = drng_aes_next_key(rk[4], rk[4], 0x10);
    rk[6] = drng_aes_next_key(rk[5], rk[5], 0x20);
    rk[7] = drng_aes_next_key(rk[6], rk[6], 0x40);
    rk[8] = drng_aes_next_key(rk[7], rk[7], 0x80);
    rk[9] = drng_aes_next_key(rk[8], rk[8], 0x1b);
    rk[10] = drng_aes_next_key(rk[9], rk[9], 0x36);
}

/* Six new words from the six before them. *low holds the first four, the low half of *high the other two. */
DRNG_AES_INLINE void drng_aes_step_192(__m128i *low, __m128i *high, int rcon)
{
    *low = _mm_xor_si128(drng_aes_prefix(*low), drng_aes_sub_rot(*high, 1, rcon));
    const __m128i last = _mm_shuffle_epi32(*low, 0xff);
    *high = _mm_xor_si128(_mm_xor_si128(*high, _mm_slli_si128(*high, 4)), last);
}

/* A step yields six words and a round key takes four, so two steps fill three round keys. */
DRNG_AES_INLINE void drng_aes_expand_192(__m128i rk[13], const uint8_t key[24])
{
    __m128i low = _mm_loadu_si128((const __m128i *)key);
    __m128i high = _mm_loadl_epi64((const __m128i *)(key + 16));
    int rcon = 1;

    rk[0] = low;
    for (int i = 0; i < 12; i += 3) {
        const __m128i before = high;
        drng_aes_step_192(&low, &high, rcon);
        rk[i + 1] = _mm_unpacklo_epi64(before, low);
        rk[i + 2] = _mm_unpacklo_epi64(_mm_srli_si128(low, 8), high);
        drng_aes_step_192(&low, &high, rcon << 1);
        rk[i + 3] = low;
        rcon <<= 2;
    }
}

DRNG_AES_INLINE void drng_aes_expand_256(__m128i rk[15], const uint8_t key[32])
{
    rk[0] = _mm_loadu_si128((const __m128i *)key);
    rk[1] = _mm_loadu_si128((const __m128i *)(key + 16));
    for (int i = 2; i < 14; i += 2) {
        rk[i] = drng_aes_next_key(rk[i - 2], rk[i - 1], 1 << (i / 2 - 1));
        rk[i + 1] = drng_aes_next_odd_key(rk[i - 1], rk[i]);
    }
    rk[14] = drng_aes_next_key(rk[12], rk[13], 0x40);
}

/* An expanded key of any size. Secret: the caller wipes the stack after use. */
struct drng_schedule {
    __m128i rk[15];
    unsigned rounds; /* 10, 12 or 14 */
};

/* key_len is 16, 24 or 32. */
DRNG_AES_INLINE void drng_aes_expand(struct drng_schedule *schedule, const uint8_t *key, size_t key_len)
{
    schedule->rounds = (unsigned)(key_len / 4 + 6);
    switch (key_len) {
    case 16:
        drng_aes_expand_128(schedule->rk, key);
        break;
    case 24:
        drng_aes_expand_192(schedule->rk, key);
        break;
    default:
        drng_aes_expand_256(schedule->rk, key);
        break;
    }
}

/* ---- Blocks ---- */

/* Unrolled by hand: the compiler keeps an array in registers only if every index is a constant. */
DRNG_AES_INLINE __m128i drng_aes_encrypt_128(const __m128i rk[11], __m128i block)
{
    block = _mm_xor_si128(block, rk[0]);
    block = _mm_aesenc_si128(block, rk[1]);
    block = _mm_aesenc_si128(block, rk[2]);
    block = _mm_aesenc_si128(block, rk[3]);
    block = _mm_aesenc_si128(block, rk[4]);
    block = _mm_aesenc_si128(block, rk[5]);
    block = _mm_aesenc_si128(block, rk[6]);
    block = _mm_aesenc_si128(block, rk[7]);
    block = _mm_aesenc_si128(block, rk[8]);
    block = _mm_aesenc_si128(block, rk[9]);
    return _mm_aesenclast_si128(block, rk[10]);
}

/* ---- The counter V ---- */

/*
 * Vectors count in pairs (low, high) of little-endian words. Less than 2^63 is added to the low word, so the word has
 * wrapped if its top bit was 1 and is 0. This gives the carry to the high word without a branch.
 */
DRNG_AES_INLINE __m128i drng_counter_words(struct drng_counter counter)
{
    return _mm_set_epi64x((long long)counter.high, (long long)counter.low);
}

/* The byte order of a block: big-endian, the high word first. */
DRNG_AES_INLINE __m128i drng_counter_reverse(void)
{
    return _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* The block V + 1, for a few blocks: each is made from general registers. */
DRNG_AES_INLINE __m128i drng_counter_next(struct drng_counter *counter)
{
    drng_counter_add(counter, 1);
    return _mm_set_epi64x((long long)__builtin_bswap64(counter->low), (long long)__builtin_bswap64(counter->high));
}

/* The block V + n. */
DRNG_AES_INLINE __m128i drng_counter_block(__m128i v, int n)
{
    const __m128i sum = _mm_add_epi64(v, _mm_set_epi64x(0, n));
    const __m128i wrapped = _mm_srli_epi64(_mm_andnot_si128(sum, v), 63);
    return _mm_shuffle_epi8(_mm_add_epi64(sum, _mm_slli_si128(wrapped, 8)), drng_counter_reverse());
}

/* The same for two blocks: the counters `sum`; v is the counter before the addition. */
static inline __attribute__((always_inline, target("avx2,aes,ssse3"))) __m256i drng_counter_blocks(__m256i v,
                                                                                                   __m256i sum)
{
    const __m256i wrapped = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_andnot_si256(sum, v));
    const __m256i carried = _mm256_sub_epi64(sum, _mm256_slli_si256(wrapped, 8));
    return _mm256_shuffle_epi8(carried, _mm256_broadcastsi128_si256(drng_counter_reverse()));
}

/* ---- The destination of the keystream: `out` first, then `tail` ---- */

struct drng_sink {
    uint8_t *out;
    size_t out_blocks;
    uint8_t *tail;
    size_t tail_blocks;
};

/* Stores the next block, if the sink has room for it. */
DRNG_AES_INLINE void drng_sink_take(struct drng_sink *sink, __m128i block)
{
    if (sink->out_blocks > 0) {
        _mm_storeu_si128((__m128i *)sink->out, block);
        sink->out += 16;
        sink->out_blocks--;
    } else if (sink->tail_blocks > 0) {
        _mm_storeu_si128((__m128i *)sink->tail, block);
        sink->tail += 16;
        sink->tail_blocks--;
    }
}

/* ---- Kernels: aes_choose_x86.c chooses among them by length; none of them calls another ---- */

enum {
    DRNG_AES_NI_LANES = 8,      /* blocks in flight: enough to hide the latency of AESENC on every CPU */
    DRNG_AES_SHORT_BLOCKS = 20, /* a request of 256 bytes, with its Update */
};

/* aes_ni.c, AES-256. _short: at most DRNG_AES_NI_LANES blocks, no schedule in memory. _medium: more blocks. */
void drng_aes_ni_short(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink);
void drng_aes_ni_medium(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink);

/* aes_ni.c. Fills the sink. */
void drng_aes_ni_rest(const struct drng_schedule *schedule, struct drng_counter counter, struct drng_sink *sink);

void drng_aes_ni_cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out, const uint8_t *in,
                     size_t blocks);

/* aes_vaes_short.c, AES-256. At most DRNG_AES_SHORT_BLOCKS blocks, no schedule in memory. */
void drng_aes_vaes_short(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink);

/*
 * aes_vaes256.c, aes_vaes512.c. Write as many whole groups of blocks as fit, advance the counter by them, and return
 * the number of blocks.
 */
typedef size_t drng_aes_bulk(const struct drng_schedule *schedule, struct drng_counter *counter, uint8_t *out,
                             size_t blocks);
drng_aes_bulk drng_aes_vaes256_bulk;
drng_aes_bulk drng_aes_vaes512_bulk;

/* wipe_x86.S. drng_wipe_stack_512() with AVX, in half the time. */
void drng_wipe_stack_512_avx(void);

#endif
