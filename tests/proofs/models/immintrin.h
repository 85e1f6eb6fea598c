/* SPDX-License-Identifier: Apache-2.0 */
/*
 * immintrin.h - in the place of the compiler's: the intrinsics by which the kernels count, in plain C, by what Intel's
 * manual (Intrinsics Guide, "Operation") says that each does. The others are declared, and a proof that needed one
 * would fail for want of it.
 */

#ifndef DRNG_PROOF_IMMINTRIN_H
#define DRNG_PROOF_IMMINTRIN_H

#include <stdint.h>

typedef struct {
    uint64_t word[2]; /* the lowest first */
} __m128i;

typedef struct {
    __m128i lane[2];
} __m256i;

typedef struct {
    __m128i lane[4];
} __m512i;

typedef uint8_t __mmask8;

/* ---- 128 bits ---- */

static inline __m128i _mm_set_epi64x(long long high, long long low)
{
    return (__m128i){{(uint64_t)low, (uint64_t)high}};
}

static inline __m128i _mm_setzero_si128(void)
{
    return (__m128i){{0, 0}};
}

static inline uint8_t byte_of_vector(__m128i a, unsigned i)
{
    return (uint8_t)(a.word[i / 8] >> 8 * (i % 8) & 0xff);
}

static inline __m128i vector_of_bytes(const uint8_t bytes[16])
{
    __m128i a = {{0, 0}};
    for (unsigned i = 0; i < 16; i++) {
        a.word[i / 8] |= (uint64_t)bytes[i] << 8 * (i % 8);
    }
    return a;
}

/* The arguments begin with the highest byte. */
static inline __m128i _mm_loadu_si128(const __m128i *from)
{
    return vector_of_bytes((const uint8_t *)from);
}

static inline __m128i _mm_set_epi8(char e15, char e14, char e13, char e12, char e11, char e10, char e9, char e8,
                                   char e7, char e6, char e5, char e4, char e3, char e2, char e1, char e0)
{
    const uint8_t bytes[16] = {(uint8_t)e0,  (uint8_t)e1,  (uint8_t)e2,  (uint8_t)e3, (uint8_t)e4,  (uint8_t)e5,
                               (uint8_t)e6,  (uint8_t)e7,  (uint8_t)e8,  (uint8_t)e9, (uint8_t)e10, (uint8_t)e11,
                               (uint8_t)e12, (uint8_t)e13, (uint8_t)e14, (uint8_t)e15};
    return vector_of_bytes(bytes);
}

static inline __m128i _mm_add_epi64(__m128i a, __m128i b)
{
    return (__m128i){{a.word[0] + b.word[0], a.word[1] + b.word[1]}};
}

static inline __m128i _mm_sub_epi64(__m128i a, __m128i b)
{
    return (__m128i){{a.word[0] - b.word[0], a.word[1] - b.word[1]}};
}

static inline __m128i _mm_andnot_si128(__m128i a, __m128i b)
{
    return (__m128i){{~a.word[0] & b.word[0], ~a.word[1] & b.word[1]}};
}

static inline __m128i _mm_srli_epi64(__m128i a, int count)
{
    return count > 63 ? _mm_setzero_si128() : (__m128i){{a.word[0] >> count, a.word[1] >> count}};
}

/* Moves the whole register up by `count` bytes. */
static inline __m128i _mm_slli_si128(__m128i a, int count)
{
    uint8_t bytes[16];
    for (int i = 0; i < 16; i++) {
        bytes[i] = i >= count ? byte_of_vector(a, (unsigned)(i - count)) : 0;
    }
    return vector_of_bytes(bytes);
}

static inline __m128i _mm_shuffle_epi8(__m128i a, __m128i b)
{
    uint8_t bytes[16];
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t index = byte_of_vector(b, i);
        bytes[i] = (index & 0x80) != 0 ? 0 : byte_of_vector(a, index & 0x0f);
    }
    return vector_of_bytes(bytes);
}

/* All ones where a is greater, as a signed number. */
static inline uint64_t compare_words(uint64_t a, uint64_t b)
{
    return (int64_t)a > (int64_t)b ? UINT64_MAX : 0;
}

static inline __m128i _mm_cmpgt_epi64(__m128i a, __m128i b)
{
    return (__m128i){{compare_words(a.word[0], b.word[0]), compare_words(a.word[1], b.word[1])}};
}

static inline __m128i _mm_cmpeq_epi64(__m128i a, __m128i b)
{
    return (__m128i){{a.word[0] == b.word[0] ? UINT64_MAX : 0, a.word[1] == b.word[1] ? UINT64_MAX : 0}};
}

static inline __m128i _mm_set1_epi64x(long long a)
{
    return _mm_set_epi64x(a, a);
}

static inline __m128i _mm_cvtsi64_si128(long long a)
{
    return _mm_set_epi64x(0, a);
}

static inline __m128i _mm_unpacklo_epi64(__m128i a, __m128i b)
{
    return (__m128i){{a.word[0], b.word[0]}};
}

static inline __m128i _mm_xor_si128(__m128i a, __m128i b)
{
    return (__m128i){{a.word[0] ^ b.word[0], a.word[1] ^ b.word[1]}};
}

static inline __m128i _mm_and_si128(__m128i a, __m128i b)
{
    return (__m128i){{a.word[0] & b.word[0], a.word[1] & b.word[1]}};
}

static inline __m128i _mm_set1_epi8(char a)
{
    return _mm_set1_epi64x((long long)((uint8_t)a * UINT64_C(0x0101010101010101)));
}

static inline __m128i _mm_add_epi8(__m128i a, __m128i b)
{
    uint8_t bytes[16];
    for (unsigned i = 0; i < 16; i++) {
        bytes[i] = (uint8_t)(byte_of_vector(a, i) + byte_of_vector(b, i));
    }
    return vector_of_bytes(bytes);
}

static inline __m128i _mm_cmpgt_epi8(__m128i a, __m128i b)
{
    uint8_t bytes[16];
    for (unsigned i = 0; i < 16; i++) {
        bytes[i] = (int8_t)byte_of_vector(a, i) > (int8_t)byte_of_vector(b, i) ? 0xff : 0;
    }
    return vector_of_bytes(bytes);
}

__m128i _mm_set1_epi32(int a);
__m128i _mm_shuffle_epi32(__m128i a, int imm);
__m128i _mm_loadl_epi64(const __m128i *a);
__m128i _mm_srli_si128(__m128i a, int imm);
__m128i _mm_aesenc_si128(__m128i a, __m128i key);
__m128i _mm_aesenclast_si128(__m128i a, __m128i key);
void _mm_storeu_si128(__m128i *a, __m128i b);
__m128i _mm_alignr_epi8(__m128i a, __m128i b, int imm);
long long _mm_cvtsi128_si64(__m128i a);
__m128i _mm_set_epi32(int e3, int e2, int e1, int e0);
void _mm_store_si128(__m128i *a, __m128i b);
void _mm_storel_epi64(__m128i *a, __m128i b);

/* ---- 256 bits: the same in each half ---- */

static inline __m256i _mm256_broadcastsi128_si256(__m128i a)
{
    return (__m256i){{a, a}};
}

static inline __m256i _mm256_set_epi64x(long long e3, long long e2, long long e1, long long e0)
{
    return (__m256i){{_mm_set_epi64x(e1, e0), _mm_set_epi64x(e3, e2)}};
}

static inline __m128i _mm256_castsi256_si128(__m256i a)
{
    return a.lane[0];
}

static inline __m128i _mm256_extracti128_si256(__m256i a, int i)
{
    return a.lane[i];
}

static inline __m256i _mm256_add_epi64(__m256i a, __m256i b)
{
    return (__m256i){{_mm_add_epi64(a.lane[0], b.lane[0]), _mm_add_epi64(a.lane[1], b.lane[1])}};
}

static inline __m256i _mm256_sub_epi64(__m256i a, __m256i b)
{
    return (__m256i){{_mm_sub_epi64(a.lane[0], b.lane[0]), _mm_sub_epi64(a.lane[1], b.lane[1])}};
}

static inline __m256i _mm256_cmpgt_epi64(__m256i a, __m256i b)
{
    return (__m256i){{_mm_cmpgt_epi64(a.lane[0], b.lane[0]), _mm_cmpgt_epi64(a.lane[1], b.lane[1])}};
}

static inline __m256i _mm256_shuffle_epi8(__m256i a, __m256i b)
{
    return (__m256i){{_mm_shuffle_epi8(a.lane[0], b.lane[0]), _mm_shuffle_epi8(a.lane[1], b.lane[1])}};
}

static inline __m256i _mm256_and_si256(__m256i a, __m256i b)
{
    return (__m256i){{_mm_and_si128(a.lane[0], b.lane[0]), _mm_and_si128(a.lane[1], b.lane[1])}};
}

static inline __m256i _mm256_xor_si256(__m256i a, __m256i b)
{
    return (__m256i){{_mm_xor_si128(a.lane[0], b.lane[0]), _mm_xor_si128(a.lane[1], b.lane[1])}};
}

__m256i _mm256_aesenc_epi128(__m256i a, __m256i key);
__m256i _mm256_aesenclast_epi128(__m256i a, __m256i key);
void _mm256_storeu_si256(__m256i *a, __m256i b);

/* ---- 512 bits: the same in each quarter ---- */

static inline __m512i _mm512_broadcast_i32x4(__m128i a)
{
    return (__m512i){{a, a, a, a}};
}

static inline __m128i _mm512_castsi512_si128(__m512i a)
{
    return a.lane[0];
}

static inline __m128i _mm512_extracti32x4_epi32(__m512i a, int i)
{
    return a.lane[i];
}

static inline __m512i _mm512_set1_epi64(long long a)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x(a, a));
}

static inline __m512i _mm512_set_epi64(long long e7, long long e6, long long e5, long long e4, long long e3,
                                       long long e2, long long e1, long long e0)
{
    return (__m512i){{_mm_set_epi64x(e1, e0), _mm_set_epi64x(e3, e2), _mm_set_epi64x(e5, e4), _mm_set_epi64x(e7, e6)}};
}

/* Bit i of the mask is that of word i, counted from the lowest. */
static inline __mmask8 _mm512_cmpgt_epi64_mask(__m512i a, __m512i b)
{
    __mmask8 mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        mask |= (__mmask8)(((int64_t)a.lane[i / 2].word[i % 2] > (int64_t)b.lane[i / 2].word[i % 2] ? 1 : 0) << i);
    }
    return mask;
}

/* Words whose bit in the mask is 0 are those of src. */
static inline __m512i _mm512_mask_add_epi64(__m512i src, __mmask8 mask, __m512i a, __m512i b)
{
    __m512i sum = src;
    for (unsigned i = 0; i < 8; i++) {
        if ((mask >> i & 1) != 0) {
            sum.lane[i / 2].word[i % 2] = a.lane[i / 2].word[i % 2] + b.lane[i / 2].word[i % 2];
        }
    }
    return sum;
}

static inline __m512i _mm512_add_epi64(__m512i a, __m512i b)
{
    return (__m512i){{_mm_add_epi64(a.lane[0], b.lane[0]), _mm_add_epi64(a.lane[1], b.lane[1]),
                      _mm_add_epi64(a.lane[2], b.lane[2]), _mm_add_epi64(a.lane[3], b.lane[3])}};
}

static inline __m512i _mm512_shuffle_epi8(__m512i a, __m512i b)
{
    return (__m512i){{_mm_shuffle_epi8(a.lane[0], b.lane[0]), _mm_shuffle_epi8(a.lane[1], b.lane[1]),
                      _mm_shuffle_epi8(a.lane[2], b.lane[2]), _mm_shuffle_epi8(a.lane[3], b.lane[3])}};
}

__m512i _mm512_and_si512(__m512i a, __m512i b);
__m512i _mm512_xor_si512(__m512i a, __m512i b);
__m512i _mm512_aesenc_epi128(__m512i a, __m512i key);
__m512i _mm512_aesenclast_epi128(__m512i a, __m512i key);
void _mm512_storeu_si512(void *a, __m512i b);

#endif
