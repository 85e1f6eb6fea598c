/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neon_aes.h - the intrinsics of AESE and AESMC, and what aes_arm.c asks of the compiler.
 *
 * The file that uses them is compiled for plain armv8-a, and each function with them has the attribute.
 */

#pragma once

#include <arm_neon.h>
#include <stdint.h>

#ifdef __clang__
#define DRNG_NEON_TARGET "aes"
#define DRNG_NEON_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DRNG_NEON_TARGET "+crypto" /* the intrinsics' own in GCC */
#define DRNG_NEON_UNROLL _Pragma("GCC unroll 20")
#endif
#define DRNG_NEON_AES        __attribute__((target(DRNG_NEON_TARGET)))
#define DRNG_NEON_AES_INLINE static inline __attribute__((always_inline, target(DRNG_NEON_TARGET)))

/* Before version 16 Clang's arm_neon.h has these only where a whole file is compiled for AES. */
#if defined(__clang__) && __clang_major__ < 16 && !defined(__ARM_FEATURE_AES)
enum { DRNG_UINT8X16 = 48 }; /* the compiler's number of the type */
#define vaeseq_u8(data, key) ((uint8x16_t)__builtin_neon_vaeseq_v((int8x16_t)(data), (int8x16_t)(key), DRNG_UINT8X16))
#define vaesmcq_u8(data)     ((uint8x16_t)__builtin_neon_vaesmcq_v((int8x16_t)(data), DRNG_UINT8X16))
#endif

/* Finishes the block before anything else is made of the two words. */
DRNG_NEON_AES_INLINE void drng_neon_finish(uint8x16_t *block, uint64_t *one, uint64_t *other)
{
    __asm__ volatile("" : "+w"(*block), "+r"(*one), "+r"(*other));
}
