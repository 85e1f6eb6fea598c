/* AES with VAES on 256-bit registers: two blocks in each, eight registers in flight. */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"

#define WIDE __attribute__((target("vaes,avx2,aes")))

enum {
    LANES = 8,
    PER_LANE = 2,
    GROUP = LANES * PER_LANE,
};

WIDE static size_t bulk(const struct drng_schedule *schedule, struct drng_counter *counter, uint8_t *out, size_t blocks)
{
    const __m256i step = _mm256_set_epi64x(0, PER_LANE, 0, PER_LANE);
    const size_t groups = blocks / GROUP;
    const unsigned rounds = schedule->rounds;
    __m256i key[15];
    __m256i lane[LANES];
    const __m256i v = _mm256_broadcastsi128_si256(drng_counter_words(*counter));
    __m256i next = _mm256_add_epi64(v, _mm256_set_epi64x(0, 2, 0, 1));

    for (unsigned round = 0; round <= rounds; round++) {
        key[round] = _mm256_broadcastsi128_si256(schedule->rk[round]);
    }
    const __m256i last = key[rounds];
    for (size_t group = 0; group < groups; group++) {
        for (int i = 0; i < LANES; i++) {
            lane[i] = _mm256_xor_si256(drng_counter_blocks(v, next), key[0]);
            next = _mm256_add_epi64(next, step);
        }
        for (unsigned round = 1; round < rounds; round++) {
            for (int i = 0; i < LANES; i++) {
                lane[i] = _mm256_aesenc_epi128(lane[i], key[round]);
            }
        }
        for (int i = 0; i < LANES; i++) {
            lane[i] = _mm256_aesenclast_epi128(lane[i], last);
            _mm256_storeu_si256((__m256i *)out + group * LANES + i, lane[i]);
        }
    }
    drng_counter_add(counter, groups * GROUP);
    return groups * GROUP;
}

static const struct drng_wide wide = {bulk, drng_aes_vaes_short};

static void ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                uint8_t *tail, size_t tail_blocks)
{
    drng_aes_ni_ctr(&wide, key, key_len, v, out, out_blocks, tail, tail_blocks);
}

const struct drng_aes drng_aes_vaes256 = {.name = "VAES-256", .fuses = true, .ctr = ctr, .cbc = drng_aes_ni_cbc};
