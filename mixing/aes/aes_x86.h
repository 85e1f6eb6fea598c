/*
 * aes_x86.h - AES in registers: key schedules, rounds and counters shared by the x86-64 implementations.
 *
 * AESKEYGENASSIST is slow on every CPU that has it. On a register with four equal columns ShiftRows does
 * nothing, so AESENCLAST is SubWord and the addition of the round constant in one short instruction.
 */

#ifndef DRNG_AES_X86_H
#define DRNG_AES_X86_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/aes/counter_block.h"

#define DRNG_AES_TARGET __attribute__((target("aes,ssse3")))
#define DRNG_AES_INLINE static inline __attribute__((always_inline, target("aes,ssse3")))

/* Before a loop over lanes: they are kept in registers only where every index is a constant. */
#ifdef __clang__
#define DRNG_AES_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DRNG_AES_UNROLL _Pragma("GCC unroll 16")
#endif

/* ---- Key schedules: FIPS 197, 5.2 ---- */

/* w0, w0^w1, w0^w1^w2, w0^w1^w2^w3: how each word of a round key takes in the words before it. */
DRNG_AES_INLINE __m128i drng_aes_prefix(__m128i key)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    return _mm_xor_si128(key, _mm_slli_si128(key, 8));
}

/* SubWord(RotWord(column)) ^ rcon in all four columns; column is a constant, 0 to 3. */
DRNG_AES_INLINE __m128i drng_aes_sub_rot(__m128i key, int column, int rcon)
{
    /* Bytes 1, 2, 3, 0 of the column. */
    const __m128i rotation = _mm_set1_epi32(0x00030201 + 0x04040404 * column);
    return _mm_aesenclast_si128(_mm_shuffle_epi8(key, rotation), _mm_set1_epi32(rcon));
}

/* The round key after `key` for Nk = 4 (last = key); for Nk = 8 the one two after `key`, where last is between. */
DRNG_AES_INLINE __m128i drng_aes_next_key(__m128i key, __m128i last, int rcon)
{
    return _mm_xor_si128(drng_aes_prefix(key), drng_aes_sub_rot(last, 3, rcon));
}

/* For Nk = 8 and i mod 8 = 4: SubWord alone. */
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

/* Six new words from the six before: *low holds the first four, the low half of *high the other two. */
DRNG_AES_INLINE void drng_aes_step_192(__m128i *low, __m128i *high, int rcon)
{
    *low = _mm_xor_si128(drng_aes_prefix(*low), drng_aes_sub_rot(*high, 1, rcon));
    const __m128i last = _mm_shuffle_epi32(*low, 0xff);
    *high = _mm_xor_si128(_mm_xor_si128(*high, _mm_slli_si128(*high, 4)), last);
}

/* Steps yield words by six, round keys take them by four: two steps fill three round keys. */
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

/* An expanded key of any size; secret, so whoever calls what fills one wipes the stack. */
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

/* Unrolled by hand: the compiler keeps an array in registers only where every index is a constant. */
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
 * Counting in vectors: (low, high) pairs of little-endian words, to whose low words less than 2^63 is added. Such a
 * word has wrapped if its top bit was 1 and is 0, which is a carry to the high word without a branch.
 */
DRNG_AES_INLINE __m128i drng_counter_words(struct drng_counter counter)
{
    return _mm_set_epi64x((long long)counter.high, (long long)counter.low);
}

/* How words become a block: big-endian, the high word first. */
DRNG_AES_INLINE __m128i drng_counter_reverse(void)
{
    return _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* V + 1, as a block, for a few of them: each from registers that are at hand. */
DRNG_AES_INLINE __m128i drng_counter_next(struct drng_counter *counter)
{
    drng_counter_add(counter, 1);
    return _mm_set_epi64x((long long)__builtin_bswap64(counter->low), (long long)__builtin_bswap64(counter->high));
}

/* V + n, as a block. */
DRNG_AES_INLINE __m128i drng_counter_block(__m128i v, int n)
{
    const __m128i sum = _mm_add_epi64(v, _mm_set_epi64x(0, n));
    const __m128i wrapped = _mm_srli_epi64(_mm_andnot_si128(sum, v), 63);
    return _mm_shuffle_epi8(_mm_add_epi64(sum, _mm_slli_si128(wrapped, 8)), drng_counter_reverse());
}

/* The same for two: the blocks of counters that are `sum`, and were v before anything was added. */
static inline __attribute__((always_inline, target("avx2,aes,ssse3"))) __m256i drng_counter_blocks(__m256i v,
                                                                                                   __m256i sum)
{
    const __m256i wrapped = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_andnot_si256(sum, v));
    const __m256i carried = _mm256_sub_epi64(sum, _mm256_slli_si256(wrapped, 8));
    return _mm256_shuffle_epi8(carried, _mm256_broadcastsi128_si256(drng_counter_reverse()));
}

/* ---- Where keystream goes: `out` first, then `tail` ---- */

struct drng_sink {
    uint8_t *out;
    size_t out_blocks;
    uint8_t *tail;
    size_t tail_blocks;
};

/* The next block, if the sink still takes one. */
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

/* ---- What the wider implementations add to aes_ni.c ---- */

enum { DRNG_AES_SHORT_BLOCKS = 20 }; /* a request of 256 bytes, with its Update */

struct drng_wide {
    /*
     * Writes as many whole groups of blocks as fit, advances the counter by them and returns how many blocks that
     * was.
     */
    size_t (*bulk)(const struct drng_schedule *schedule, struct drng_counter *counter, uint8_t *out, size_t blocks);

    /* AES-256 for at most DRNG_AES_SHORT_BLOCKS. */
    void (*brief)(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink);
};

/* drng_wipe_stack_512() where there is AVX: half the time. wipe_x86.S. */
void drng_wipe_stack_512_avx(void);

/* aes_vaes_short.c: `brief` for both widths of VAES. */
void drng_aes_vaes_short(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink);

/* The slots of struct drng_aes for AES-NI, ctr with something wider for those that gain by it; NULL: nothing. */
void drng_aes_ni_ctr(const struct drng_wide *wide, const uint8_t *key, size_t key_len, uint8_t v[16], uint8_t *out,
                     size_t out_blocks, uint8_t *tail, size_t tail_blocks);
void drng_aes_ni_cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out, const uint8_t *in,
                     size_t blocks);

#endif
