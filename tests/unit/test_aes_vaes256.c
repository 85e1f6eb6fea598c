/*
 * aes_vaes256.c on a CPU without VAES: its AES rounds are done lane by lane with AES-NI, which is what the
 * instructions are defined to do; counters, carries and the order of the lanes are the product's own code.
 */

#include <immintrin.h>
#include <stdio.h>

#include "tests/unit/aes_wide.h"

enum { BLOCKS = 256 / 128 };

/* Not inlined: the callers are compiled for VAES, and no such instruction may come of this. */
#define LANE_BY_LANE __attribute__((noinline, target("aes,avx2")))

static unsigned long wide_rounds;

LANE_BY_LANE static __m256i encrypt_lanes(__m256i block, __m256i key)
{
    __m128i blocks[BLOCKS];
    __m128i keys[BLOCKS];
    _mm256_storeu_si256((__m256i *)blocks, block);
    _mm256_storeu_si256((__m256i *)keys, key);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = _mm_aesenc_si128(blocks[i], keys[i]);
    }
    wide_rounds++;
    return _mm256_loadu_si256((const __m256i *)blocks);
}

LANE_BY_LANE static __m256i encrypt_last_lanes(__m256i block, __m256i key)
{
    __m128i blocks[BLOCKS];
    __m128i keys[BLOCKS];
    _mm256_storeu_si256((__m256i *)blocks, block);
    _mm256_storeu_si256((__m256i *)keys, key);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = _mm_aesenclast_si128(blocks[i], keys[i]);
    }
    return _mm256_loadu_si256((const __m256i *)blocks);
}

#undef _mm256_aesenc_epi128
#undef _mm256_aesenclast_epi128
#define _mm256_aesenc_epi128     encrypt_lanes
#define _mm256_aesenclast_epi128 encrypt_last_lanes

/* In place of the one in the library, which the linker then leaves there. */
#include "mixing/aes_vaes256.c"

int main(void)
{
    const struct aes_wide wide = {&drng_aes_vaes256, PER_LANE, GROUP, &wide_rounds};
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    if (!cpu.aes || !(__builtin_cpu_supports("avx2"))) {
        (void)puts("skipped: this CPU has no AVX2");
        return AES_WIDE_SKIPPED;
    }
    return aes_wide_run(&wide);
}
