/* Long requests with VAES on 256-bit registers: two blocks in each. */

#include "mixing/aes/lanes_vaes256.h"
#include "mixing/memory/wipe.h"

enum {
    GROUP = DRNG_AES_VAES256_MIN, /* the last group overlaps with the one before, and has to fit */
    LANES = GROUP / PER_LANE,
    TAIL_LANES = DRNG_AES_TAIL / PER_LANE,
    HEAD_LANES = LANES - TAIL_LANES, /* lanes of output that are made along with the tail */
    HEAD = HEAD_LANES * PER_LANE,
};

LANE_INLINE void put_out(uint8_t *out, const lane *block, const int lanes)
{
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        _mm256_storeu_si256((lane *)out + i, block[i]);
    }
}

LANE_INLINE void put_tail(const struct drng_stretch *stretch, const lane *block)
{
    struct drng_rest rest = {stretch->tail, stretch->tail_blocks * DRNG_AES_BLOCK};
    DRNG_AES_UNROLL
    for (int i = 0; i < TAIL_LANES; i++) {
        drng_rest_take(&rest, _mm256_castsi256_si128(block[i]));
        drng_rest_take(&rest, _mm256_extracti128_si256(block[i], 1));
    }
}

LANE_INLINE void encrypt(const struct drng_aes_schedule *schedule, lane *block)
{
    add_round_key(block, LANES, drng_aes_round_key(schedule, 0));
    for (unsigned round = 1; round < schedule->rounds; round++) {
        do_round(block, LANES, drng_aes_round_key(schedule, round));
    }
    do_last_round(block, LANES, drng_aes_round_key(schedule, schedule->rounds));
}

WIDE DRNG_OWN_FRAME void drng_aes_vaes256_long(const struct drng_stretch *stretch, size_t key_len)
{
    const __m128i v = drng_counter_loaded(stretch->v);
    const size_t blocks = stretch->out_blocks;
    struct drng_aes_schedule schedule = {.rounds = drng_aes_rounds(key_len)};
    lane block[LANES];

    count(v, blocks, block, TAIL_LANES);
    count(v, 0, block + TAIL_LANES, HEAD_LANES);
    keystream(stretch->key, key_len, block, LANES, (__m128i *)schedule.round_key);
    put_tail(stretch, block);
    put_out(stretch->out, block + TAIL_LANES, HEAD_LANES);
    for (size_t done = HEAD; done < blocks; done += GROUP) {
        const size_t at = drng_group_at(done, blocks, GROUP);
        count(v, at, block, LANES);
        encrypt(&schedule, block);
        put_out(stretch->out + at * DRNG_AES_BLOCK, block, LANES);
    }
}
