/* lanes_ni.h - keystream_x86.h for AES-NI: one block in each lane. */

#include "mixing/aes/aes_x86.h"

typedef __m128i lane;
#define LANE_INLINE DRNG_AES_INLINE

LANE_INLINE void add_round_key(lane *block, const int lanes, __m128i round_key)
{
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = drng_aes_now(_mm_xor_si128(block[i], round_key));
    }
}

LANE_INLINE void do_round(lane *block, const int lanes, __m128i round_key)
{
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = drng_aes_now(_mm_aesenc_si128(block[i], round_key));
    }
}

LANE_INLINE void do_last_round(lane *block, const int lanes, __m128i round_key)
{
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm_aesenclast_si128(block[i], round_key);
    }
}

#include "mixing/aes/keystream_x86.h"

/* The counters after V + at, as blocks. */
LANE_INLINE void count(__m128i v, size_t at, lane *block, const int lanes)
{
    const __m128i from = drng_counter_plus(v, _mm_cvtsi64_si128((long long)at));
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = drng_counter_block(from, i + 1);
    }
}

LANE_INLINE void encrypt(const struct drng_aes_schedule *schedule, lane *block, const int lanes)
{
    add_round_key(block, lanes, drng_aes_round_key(schedule, 0));
    for (unsigned round = 1; round < schedule->rounds; round++) {
        do_round(block, lanes, drng_aes_round_key(schedule, round));
    }
    do_last_round(block, lanes, drng_aes_round_key(schedule, schedule->rounds));
}
