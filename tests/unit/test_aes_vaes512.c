/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes_vaes512.c on a CPU without VAES: its AES rounds are done lane by lane with AES-NI, which is what the
 * instructions are defined to do; counters, carries and the order of the lanes are the product's own code.
 */

#include <immintrin.h>

#include "tests/unit/aes_wide.h"
#include "tests/unit/unit.h"

enum { BLOCKS = 512 / 128 };

/* Not inlined: the callers are compiled for VAES, and no such instruction may come of this. */
#define LANE_BY_LANE __attribute__((noinline, target("aes,avx512f")))

static unsigned long wide_rounds;

LANE_BY_LANE static __m512i encrypt_lanes(__m512i block, __m512i key)
{
    __m128i blocks[BLOCKS];
    __m128i keys[BLOCKS];
    _mm512_storeu_si512(blocks, block);
    _mm512_storeu_si512(keys, key);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = _mm_aesenc_si128(blocks[i], keys[i]);
    }
    wide_rounds++;
    return _mm512_loadu_si512(blocks);
}

LANE_BY_LANE static __m512i encrypt_last_lanes(__m512i block, __m512i key)
{
    __m128i blocks[BLOCKS];
    __m128i keys[BLOCKS];
    _mm512_storeu_si512(blocks, block);
    _mm512_storeu_si512(keys, key);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = _mm_aesenclast_si128(blocks[i], keys[i]);
    }
    return _mm512_loadu_si512(blocks);
}

#undef _mm512_aesenc_epi128
#undef _mm512_aesenclast_epi128
#define _mm512_aesenc_epi128     encrypt_lanes
#define _mm512_aesenclast_epi128 encrypt_last_lanes

/* In place of the one in the library, which the linker then leaves there. */
#include "mixing/aes/aes_vaes512.c"

int main(void)
{
    const struct aes_wide subject = {&drng_aes_vaes512, LANE_BLOCKS, DRNG_AES_VAES512_MIN, &wide_rounds};
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    if (!cpu.aes || !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))) {
        return unit_skipped("this CPU has no AVX-512");
    }
    return aes_wide_run(&subject);
}
