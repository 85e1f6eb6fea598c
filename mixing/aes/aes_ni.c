/* Long requests with AES-NI. */

#include "mixing/aes/lanes_ni.h"
#include "mixing/memory/wipe.h"

enum {
    LANES = DRNG_AES_NI_LANES,
    HEAD = LANES - DRNG_AES_TAIL, /* blocks of output that are made along with the tail */
};

/* Stores the first `blocks` of them. */
DRNG_AES_INLINE void put_out(uint8_t *out, size_t blocks, const lane *block, const int lanes)
{
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        if ((size_t)i < blocks) {
            _mm_storeu_si128((lane *)out + i, block[i]);
        }
    }
}

DRNG_AES_TARGET DRNG_OWN_FRAME void drng_aes_ni_long(const struct drng_stretch *stretch, size_t key_len)
{
    const __m128i v = drng_counter_loaded(stretch->v);
    const size_t blocks = stretch->out_blocks;
    struct drng_aes_schedule schedule = {.rounds = drng_aes_rounds(key_len)};
    lane block[LANES];

    count(v, blocks, block, DRNG_AES_TAIL);
    count(v, 0, block + DRNG_AES_TAIL, HEAD);
    keystream(stretch->key, key_len, block, LANES, (__m128i *)schedule.round_key);
    put_out(stretch->tail, stretch->tail_blocks, block, DRNG_AES_TAIL);
    put_out(stretch->out, blocks, block + DRNG_AES_TAIL, HEAD);
    for (size_t at = HEAD; at < blocks; at += LANES) {
        count(v, at, block, LANES);
        encrypt(&schedule, block, LANES);
        put_out(stretch->out + at * DRNG_AES_BLOCK, blocks - at, block, LANES);
    }
}
