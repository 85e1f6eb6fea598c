/* AES with VAES on 512-bit registers: four blocks in each, eight registers in flight. */

#include "mixing/aes.h"
#include "mixing/aes_x86.h"
#include "mixing/wipe.h"

#define WIDE __attribute__((target("vaes,avx512f,avx512bw")))

enum {
    LANES = 8,
    PER_LANE = 4,
    GROUP = LANES * PER_LANE,
};

/* Counters as (low, high) pairs of little-endian words, so that a vector addition counts; V + 1 to V + 4. */
WIDE static __m512i first_counters(struct drng_counter counter)
{
    const __m512i v = _mm512_set_epi64((long long)counter.high, (long long)counter.low, (long long)counter.high,
                                       (long long)counter.low, (long long)counter.high, (long long)counter.low,
                                       (long long)counter.high, (long long)counter.low);
    return _mm512_add_epi64(v, _mm512_set_epi64(0, 4, 0, 3, 0, 2, 0, 1));
}

WIDE static size_t bulk(const struct drng_schedule *schedule, struct drng_counter *counter, uint8_t *out, size_t blocks)
{
    const __m512i reverse = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i step = _mm512_set_epi64(0, PER_LANE, 0, PER_LANE, 0, PER_LANE, 0, PER_LANE);
    const size_t groups = drng_groups_before_carry(counter, blocks, GROUP);
    const unsigned rounds = schedule->rounds;
    __m512i key[15];
    __m512i lane[LANES];
    __m512i next = first_counters(*counter);

    for (unsigned round = 0; round <= rounds; round++) {
        key[round] = _mm512_broadcast_i32x4(schedule->rk[round]);
    }
    const __m512i last = key[rounds];
    for (size_t group = 0; group < groups; group++) {
        for (int i = 0; i < LANES; i++) {
            lane[i] = _mm512_xor_si512(_mm512_shuffle_epi8(next, reverse), key[0]);
            next = _mm512_add_epi64(next, step);
        }
        for (unsigned round = 1; round < rounds; round++) {
            for (int i = 0; i < LANES; i++) {
                lane[i] = _mm512_aesenc_epi128(lane[i], key[round]);
            }
        }
        for (int i = 0; i < LANES; i++) {
            lane[i] = _mm512_aesenclast_epi128(lane[i], last);
            _mm512_storeu_si512(out + (group * GROUP + (size_t)i * PER_LANE) * DRNG_AES_BLOCK, lane[i]);
        }
    }
    drng_wipe(key, sizeof(key));
    drng_counter_add(counter, groups * GROUP);
    return groups * GROUP;
}

static const struct drng_wide wide = {bulk, drng_aes_vaes_short};

static enum drng_status ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    drng_aes_ni_ctr(&wide, key, key_len, v, out, out_blocks, tail, tail_blocks);
    return DRNG_OK;
}

const struct drng_aes drng_aes_vaes512 = {.name = "VAES-512", .ctr = ctr, .cbc = drng_aes_ni_cbc};
