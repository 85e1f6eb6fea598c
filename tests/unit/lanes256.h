/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes256.h - AES rounds on 256-bit registers, done lane by lane with AES-NI, as VAES is defined. To be included
 * before a file of mixing/ that is compiled for VAES.
 */

#ifndef LANES256_H
#define LANES256_H

#include <immintrin.h>

enum { LANES256_BLOCKS = 256 / 128 };

/* Not inlined: callers are compiled for VAES, and inlined code might become a VAES instruction. */
#define LANE_BY_LANE __attribute__((noinline, target("aes,avx2")))

static unsigned long wide_rounds; /* the last rounds are not counted */

LANE_BY_LANE static __m256i encrypt_lanes(__m256i block, __m256i key)
{
    __m128i blocks[LANES256_BLOCKS];
    __m128i keys[LANES256_BLOCKS];
    _mm256_storeu_si256((__m256i *)blocks, block);
    _mm256_storeu_si256((__m256i *)keys, key);
    for (int i = 0; i < LANES256_BLOCKS; i++) {
        blocks[i] = _mm_aesenc_si128(blocks[i], keys[i]);
    }
    wide_rounds++;
    return _mm256_loadu_si256((const __m256i *)blocks);
}

LANE_BY_LANE static __m256i encrypt_last_lanes(__m256i block, __m256i key)
{
    __m128i blocks[LANES256_BLOCKS];
    __m128i keys[LANES256_BLOCKS];
    _mm256_storeu_si256((__m256i *)blocks, block);
    _mm256_storeu_si256((__m256i *)keys, key);
    for (int i = 0; i < LANES256_BLOCKS; i++) {
        blocks[i] = _mm_aesenclast_si128(blocks[i], keys[i]);
    }
    return _mm256_loadu_si256((const __m256i *)blocks);
}

#undef _mm256_aesenc_epi128
#undef _mm256_aesenclast_epi128
#define _mm256_aesenc_epi128     encrypt_lanes
#define _mm256_aesenclast_epi128 encrypt_last_lanes

#endif
