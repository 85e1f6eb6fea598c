/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces mixing/aes/neon_aes.h, so that aes_arm.c runs on x86-64: each intrinsic does what Arm's manual says of it,
 * AESE and AESMC with AES-NI. Bytes have the same order on both.
 */

#ifndef DRNG_NEON_AES_H
#define DRNG_NEON_AES_H

#include <immintrin.h>
#include <stdint.h>

#define DRNG_NEON_AES        __attribute__((target("aes,ssse3")))
#define DRNG_NEON_AES_INLINE static inline __attribute__((always_inline, target("aes,ssse3")))
#define DRNG_NEON_UNROLL

typedef __m128i uint8x16_t;
typedef __m128i uint32x4_t;
typedef uint64_t uint64x1_t;

static unsigned long neon_aese; /* how often it was executed */

/* AddRoundKey, SubBytes, ShiftRows. */
DRNG_NEON_AES_INLINE uint8x16_t vaeseq_u8(uint8x16_t data, uint8x16_t key)
{
    neon_aese++;
    return _mm_aesenclast_si128(_mm_xor_si128(data, key), _mm_setzero_si128());
}

/* MixColumns: a last round backwards takes away what a round adds to it. */
DRNG_NEON_AES_INLINE uint8x16_t vaesmcq_u8(uint8x16_t data)
{
    return _mm_aesenc_si128(_mm_aesdeclast_si128(data, _mm_setzero_si128()), _mm_setzero_si128());
}

#define vgetq_lane_u32(data, lane)  ((uint32_t)_mm_cvtsi128_si32(_mm_srli_si128((data), 4 * (lane))))
#define vextq_u8(low, high, n)      _mm_alignr_epi8((high), (low), (n))
#define vdupq_laneq_u32(data, lane) _mm_shuffle_epi32((data), 0x55 * (lane))
#define vreinterpretq_u8_u32(data)  (data)
#define vreinterpretq_u32_u8(data)  (data)
#define vreinterpretq_u8_u64(data)  (data)
#define vdupq_n_u8(byte)            _mm_set1_epi8(byte)
#define vdupq_n_u32(word)           _mm_set1_epi32((int)(word))
#define veorq_u8(one, other)        _mm_xor_si128((one), (other))
#define vqtbl1q_u8(table, places)   _mm_shuffle_epi8((table), (places)) /* no place is past the table */
#define vld1q_u8(from)              _mm_loadu_si128((const __m128i *)(from))
#define vst1q_u8(to, data)          _mm_storeu_si128((__m128i *)(to), (data))
#define vcreate_u64(word)           (word)
#define vcombine_u64(low, high)     _mm_set_epi64x((long long)(high), (long long)(low))

DRNG_NEON_AES_INLINE void drng_neon_finish(uint8x16_t *block, uint64_t *one, uint64_t *other) {}

#endif
