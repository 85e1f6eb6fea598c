/* lanes_vaes256.h - keystream_x86.h for VAES on 256-bit registers: two blocks in each lane. */

#include "mixing/aes/aes_x86.h"

#define WIDE __attribute__((target("vaes,avx2,aes")))

typedef __m256i lane;
#define LANE_INLINE static inline __attribute__((always_inline, target("vaes,avx2,aes")))

LANE_INLINE void add_round_key(lane *block, const int lanes, __m128i round_key)
{
    const lane wide = _mm256_broadcastsi128_si256(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm256_xor_si256(block[i], wide);
    }
}

LANE_INLINE void do_round(lane *block, const int lanes, __m128i round_key)
{
    const lane wide = _mm256_broadcastsi128_si256(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm256_aesenc_epi128(block[i], wide);
    }
}

LANE_INLINE void do_last_round(lane *block, const int lanes, __m128i round_key)
{
    const lane wide = _mm256_broadcastsi128_si256(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm256_aesenclast_epi128(block[i], wide);
    }
}

#include "mixing/aes/keystream_x86.h"

enum { PER_LANE = 2 };

/* The counters after V + at, as blocks. */
LANE_INLINE void count(__m128i v, size_t at, lane *block, const int lanes)
{
    const lane wide = _mm256_broadcastsi128_si256(v);
    const lane from = _mm256_add_epi64(wide, _mm256_broadcastsi128_si256(_mm_cvtsi64_si128((long long)at)));
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        const lane sum = _mm256_add_epi64(from, _mm256_set_epi64x(0, PER_LANE * i + 2, 0, PER_LANE * i + 1));
        block[i] = drng_counter_blocks(wide, sum);
    }
}
