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

#include "mixing/aes/aes.h"
#include "mixing/aes/counter_block.h"

#define DRNG_AES_TARGET __attribute__((target("aes,ssse3")))
#define DRNG_AES_INLINE static inline __attribute__((always_inline, target("aes,ssse3")))

/* To be put before a loop over lanes. The compiler keeps lanes in registers only if every index is a constant. */
#ifdef __clang__
#define DRNG_AES_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DRNG_AES_UNROLL _Pragma("GCC unroll 16")
#endif

/*
 * Computes this before what follows in the source. The compiler would do all rounds of one lane before those of the
 * next, and have all round keys wait in memory.
 */
DRNG_AES_INLINE __m128i drng_aes_now(__m128i value)
{
    __asm__ volatile("" : "+x"(value));
    return value;
}

/* ---- Key schedules: FIPS 197, 5.2 ---- */

/* w0, w0^w1, w0^w1^w2, w0^w1^w2^w3: each word of a round key is the XOR of the words up to it. */
DRNG_AES_INLINE __m128i drng_aes_prefix(__m128i key)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    return _mm_xor_si128(key, _mm_slli_si128(key, 8));
}

/* prefix(key) ^ rcon in all four columns. Added here, rcon is not waited for. */
DRNG_AES_INLINE __m128i drng_aes_prefix_rcon(__m128i key, int rcon)
{
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    return _mm_xor_si128(_mm_xor_si128(key, _mm_set1_epi32(rcon)), _mm_slli_si128(key, 8));
}

/* RotWord(column) in all four columns. column is a constant from 0 to 3. */
DRNG_AES_INLINE __m128i drng_aes_rot(__m128i key, int column)
{
    /* Bytes 1, 2, 3, 0 of the column. */
    return _mm_shuffle_epi8(key, _mm_set1_epi32(0x00030201 + 0x04040404 * column));
}

/*
 * The round key after `key` for Nk = 4, where last = key. For Nk = 8 the round key two after `key`, where last is the
 * one between. AESENCLAST adds the prefix too, which takes the addition out of the way from one round key to the next.
 */
DRNG_AES_INLINE __m128i drng_aes_next_key(__m128i key, __m128i last, int rcon)
{
    return _mm_aesenclast_si128(drng_aes_rot(last, 3), drng_aes_prefix_rcon(key, rcon));
}

/* For Nk = 8 and i mod 8 = 4: SubWord without RotWord and round constant. */
DRNG_AES_INLINE __m128i drng_aes_next_odd_key(__m128i key, __m128i last)
{
    return _mm_aesenclast_si128(_mm_shuffle_epi32(last, 0xff), drng_aes_prefix(key));
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

/*
 * A shorter way to the prefix of the next round key. That one is prefix(key) and a word that is added to all four, so
 * its own prefix is prefix(prefix(key)) and this word added to the first and third alone: what the masks here leave.
 * drng_aes_rest(x) is what there is to add to the masked x for prefix(x). The rest of the next key is
 * drng_aes_rest(prefix(key)), which is known before the next key is.
 */
DRNG_AES_INLINE __m128i drng_aes_first_and_third(__m128i key)
{
    return _mm_and_si128(key, _mm_set_epi32(0, -1, 0, -1));
}

DRNG_AES_INLINE __m128i drng_aes_rest(__m128i key)
{
    return _mm_xor_si128(drng_aes_first_and_third(key), drng_aes_prefix(key));
}

/* The round key after *key, where `last` has the last word before it in this column; *rest becomes the new one's. */
DRNG_AES_INLINE void drng_aes_next_with_rest(__m128i *key, __m128i *rest, __m128i last, int column, int rcon)
{
    const __m128i masked = drng_aes_first_and_third(*key);
    const __m128i prefix = _mm_xor_si128(masked, *rest);
    const __m128i added = _mm_xor_si128(masked, _mm_xor_si128(*rest, _mm_set1_epi32(rcon)));
    *key = _mm_aesenclast_si128(drng_aes_rot(last, column), added);
    *rest = drng_aes_rest(prefix);
}

/* Six new words from the six before them. *low holds the first four, the low half of *high the other two. */
DRNG_AES_INLINE void drng_aes_step_192(__m128i *low, __m128i *rest, __m128i *high, int rcon)
{
    drng_aes_next_with_rest(low, rest, *high, 1, rcon);
    const __m128i last = _mm_shuffle_epi32(*low, 0xff);
    *high = _mm_xor_si128(_mm_xor_si128(*high, _mm_slli_si128(*high, 4)), last);
}

static inline unsigned drng_aes_rounds(size_t key_len)
{
    return (unsigned)(key_len / 4 + 6);
}

DRNG_AES_INLINE __m128i drng_aes_round_key(const struct drng_aes_schedule *schedule, unsigned round)
{
    return _mm_load_si128((const __m128i *)schedule->round_key[round]);
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

/* The byte order of a block: big-endian, the high word first. */
DRNG_AES_INLINE __m128i drng_counter_reverse(void)
{
    return _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

/* The counter after v and n more. `n` has a number in its low word. */
DRNG_AES_INLINE __m128i drng_counter_plus(__m128i v, __m128i n)
{
    const __m128i sum = _mm_add_epi64(v, n);
    const __m128i wrapped = _mm_srli_epi64(_mm_andnot_si128(sum, v), 63);
    return _mm_add_epi64(sum, _mm_slli_si128(wrapped, 8));
}

/* The block V + n. */
DRNG_AES_INLINE __m128i drng_counter_block(__m128i v, int n)
{
    return _mm_shuffle_epi8(drng_counter_plus(v, _mm_set_epi64x(0, n)), drng_counter_reverse());
}

/* V, as it lies in memory. */
DRNG_AES_INLINE __m128i drng_counter_loaded(const uint8_t v[16])
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)v), drng_counter_reverse());
}

/* Two blocks: the counters `sum`; v is the counter before the addition. */
static inline __attribute__((always_inline, target("avx2,aes,ssse3"))) __m256i drng_counter_blocks(__m256i v,
                                                                                                   __m256i sum)
{
    const __m256i wrapped = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_andnot_si256(sum, v));
    const __m256i carried = _mm256_sub_epi64(sum, _mm256_slli_si256(wrapped, 8));
    return _mm256_shuffle_epi8(carried, _mm256_broadcastsi128_si256(drng_counter_reverse()));
}

/* ---- Short requests ---- */

/* The arguments of drng_aes.request. */
struct drng_request {
    uint8_t *key;
    uint8_t *v;
    uint8_t *out;
    size_t out_len;
    const uint8_t *provided;
};

/* The part of the output that is still to be filled. */
struct drng_rest {
    uint8_t *out;
    size_t len;
};

/* The first len bytes of a block, len below 16. Cut in registers: a copy in memory would have to be wiped. */
DRNG_AES_INLINE void drng_store_part(uint8_t *out, size_t len, __m128i block)
{
    if ((len & 8) != 0) {
        _mm_storel_epi64((__m128i *)out, block);
        block = _mm_srli_si128(block, 8);
        out += 8;
    }
    uint64_t word = (uint64_t)_mm_cvtsi128_si64(block);
    for (; (len & 7) != 0; len--) {
        *out++ = (uint8_t)word;
        word >>= 8;
    }
}

/* Stores the next block, or as much of it as there is room for. */
DRNG_AES_INLINE void drng_rest_take(struct drng_rest *rest, __m128i block)
{
    if (rest->len >= DRNG_AES_BLOCK) {
        _mm_storeu_si128((__m128i *)rest->out, block);
        rest->out += DRNG_AES_BLOCK;
        rest->len -= DRNG_AES_BLOCK;
    } else if (rest->len > 0) {
        drng_store_part(rest->out, rest->len, block);
        rest->len = 0;
    }
}

static inline size_t drng_aes_blocks(size_t len)
{
    return (len + DRNG_AES_BLOCK - 1) / DRNG_AES_BLOCK;
}

/* The blocks that an Update takes. */
static inline int drng_aes_updates(size_t key_len)
{
    return key_len == 16 ? 2 : 3;
}

/*
 * The last steps of CTR_DRBG_Update (SP 800-90A, 10.2.1.2), with temp in registers. Key of AES-192 ends, and V starts,
 * in the middle of its second block. For AES-128 `third` is not used.
 */
DRNG_AES_INLINE void drng_aes_set_key_and_v(const struct drng_request *to, size_t key_len, __m128i one, __m128i second,
                                            __m128i third)
{
    const __m128i *provided = (const __m128i *)to->provided;
    if (provided != NULL) {
        one = _mm_xor_si128(one, _mm_loadu_si128(provided));
        second = _mm_xor_si128(second, _mm_loadu_si128(provided + 1));
        third = _mm_xor_si128(third, _mm_loadu_si128(provided + 2));
    }
    _mm_store_si128((__m128i *)to->key, one);
    switch (key_len) {
    case 16:
        _mm_storeu_si128((__m128i *)to->v, second);
        break;
    case 24:
        _mm_storel_epi64((__m128i *)(to->key + 16), second);
        _mm_storeu_si128((__m128i *)to->v, _mm_alignr_epi8(third, second, 8));
        break;
    default:
        _mm_store_si128((__m128i *)(to->key + 16), second);
        _mm_storeu_si128((__m128i *)to->v, third);
        break;
    }
}

/* ---- Long requests ---- */

/* The arguments of drng_aes.ctr. V is not counted on. */
struct drng_stretch {
    const uint8_t *key;
    const uint8_t *v;
    uint8_t *out;
    size_t out_blocks;
    uint8_t *tail;
    size_t tail_blocks;
};

/* Where the next group begins: the last one ends with the last block. blocks is at least that of a group. */
static inline size_t drng_group_at(size_t done, size_t blocks, size_t group)
{
    return done + group <= blocks ? done : blocks - group;
}

/* ---- Kernels: aes_choose_x86.c chooses among them by length; none of them calls another ---- */

enum {
    DRNG_AES_NI_LANES = 8,     /* blocks in flight: enough to hide the latency of AESENC on every CPU */
    DRNG_AES_NI_SHORT = 80,    /* bytes of output: five blocks, and three of an Update */
    DRNG_AES_VAES_SHORT = 256, /* sixteen blocks */
    DRNG_AES_VAES256_MIN = 16, /* blocks of output */
    DRNG_AES_VAES512_MIN = 32,
};

/*
 * drng_aes.request for one size of keys, and for some lengths. The arguments come in registers: a request waits for the
 * address of its key.
 */
typedef void drng_aes_short(uint8_t *key, uint8_t *v, uint8_t *out, size_t out_len, const uint8_t *provided);

/* aes_ni_short.c, at most DRNG_AES_NI_SHORT bytes; aes_vaes_short.c, at most DRNG_AES_VAES_SHORT bytes. */
drng_aes_short *drng_aes_ni_short(size_t key_len, size_t out_len);
drng_aes_short *drng_aes_vaes_short(size_t key_len, size_t out_len);

/*
 * aes_ni.c, aes_vaes256.c, aes_vaes512.c: any number of blocks, at least DRNG_AES_VAES256_MIN, at least
 * DRNG_AES_VAES512_MIN. The tail is made first, along with the key schedule: in a request it is the next Key and V,
 * which the next request waits for.
 */
void drng_aes_ni_long(const struct drng_stretch *stretch, size_t key_len);
void drng_aes_vaes256_long(const struct drng_stretch *stretch, size_t key_len);
void drng_aes_vaes512_long(const struct drng_stretch *stretch, size_t key_len);

/* aes_ni_cbc.c */
void drng_aes_ni_cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out, const uint8_t *in,
                     size_t blocks);
void drng_aes_ni_chains(const struct drng_aes_schedule *schedule, uint8_t chain[DRNG_AES_CHAINS][16], const uint8_t *in,
                        size_t blocks);

/* wipe_x86.S. drng_wipe_stack_512() with AVX, in half the time. */
void drng_wipe_stack_512_avx(void);

#endif
