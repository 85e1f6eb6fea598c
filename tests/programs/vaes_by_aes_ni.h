/*
 * vaes_by_aes_ni.h - the two instructions of VAES-256, each made of two of AES-NI, for a CPU with AVX2 alone.
 *
 * To be included before mixing/aes_vaes256.c and mixing/aes_vaes_short.c by the compiler's command line: valgrind's CPU
 * has no VAES, and what is of interest there is everything around it.
 */

#ifndef DRNG_VAES_BY_AES_NI_H
#define DRNG_VAES_BY_AES_NI_H

#include <immintrin.h>

#define BY_AES_NI static inline __attribute__((always_inline))

BY_AES_NI __m256i aesenc_by_aes_ni(__m256i block, __m256i key)
{
    return _mm256_set_m128i(_mm_aesenc_si128(_mm256_extracti128_si256(block, 1), _mm256_extracti128_si256(key, 1)),
                            _mm_aesenc_si128(_mm256_castsi256_si128(block), _mm256_castsi256_si128(key)));
}

BY_AES_NI __m256i aesenclast_by_aes_ni(__m256i block, __m256i key)
{
    return _mm256_set_m128i(_mm_aesenclast_si128(_mm256_extracti128_si256(block, 1), _mm256_extracti128_si256(key, 1)),
                            _mm_aesenclast_si128(_mm256_castsi256_si128(block), _mm256_castsi256_si128(key)));
}

#define _mm256_aesenc_epi128     aesenc_by_aes_ni
#define _mm256_aesenclast_epi128 aesenclast_by_aes_ni

#endif
