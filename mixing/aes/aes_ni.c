/* AES with AES-NI. */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"
#include "mixing/memory/wipe.h"

enum { LANES = DRNG_AES_NI_LANES };

/* Makes the `lanes` blocks of keystream after `counter`. `lanes` is a constant wherever this is inlined. */
DRNG_AES_INLINE void keystream(const struct drng_schedule *schedule, struct drng_counter counter, __m128i *block,
                               const int lanes)
{
    const __m128i v = drng_counter_words(counter);
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm_xor_si128(drng_counter_block(v, i + 1), schedule->rk[0]);
    }
    for (unsigned round = 1; round < schedule->rounds; round++) {
        const __m128i key = schedule->rk[round];
        for (int i = 0; i < lanes; i++) {
            block[i] = _mm_aesenc_si128(block[i], key);
        }
    }
    const __m128i last = schedule->rk[schedule->rounds];
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm_aesenclast_si128(block[i], last);
    }
}

DRNG_AES_INLINE void keep(__m128i **rk, __m128i key)
{
    if (*rk != NULL) {
        *(*rk)++ = key;
    }
}

/*
 * The same for AES-256, computing the round keys on the way, which hides the latency of both. `save` receives the round
 * keys for further blocks; if it is NULL, there are none, and no schedule lies in memory.
 */
DRNG_AES_INLINE void keystream_256(const uint8_t *key, struct drng_counter counter, __m128i *block, const int lanes,
                                   struct drng_schedule *save)
{
    __m128i even = _mm_loadu_si128((const __m128i *)key);
    __m128i odd = _mm_loadu_si128((const __m128i *)(key + 16));
    __m128i *rk = save != NULL ? save->rk : NULL;
    keep(&rk, even);
    keep(&rk, odd);
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm_aesenc_si128(_mm_xor_si128(drng_counter_next(&counter), even), odd);
    }
    for (int rcon = 1; rcon < 0x40; rcon <<= 1) {
        even = drng_aes_next_key(even, odd, rcon);
        keep(&rk, even);
        for (int i = 0; i < lanes; i++) {
            block[i] = _mm_aesenc_si128(block[i], even);
        }
        odd = drng_aes_next_odd_key(odd, even);
        keep(&rk, odd);
        for (int i = 0; i < lanes; i++) {
            block[i] = _mm_aesenc_si128(block[i], odd);
        }
    }
    even = drng_aes_next_key(even, odd, 0x40);
    keep(&rk, even);
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm_aesenclast_si128(block[i], even);
    }
}

DRNG_AES_INLINE void drain(struct drng_sink *sink, const __m128i *block, const int lanes)
{
    for (int i = 0; i < lanes; i++) {
        drng_sink_take(sink, block[i]);
    }
}

/* A short AES-256 request: nearly all requests are. */
DRNG_AES_TARGET DRNG_OWN_FRAME void drng_aes_ni_short(const uint8_t key[32], struct drng_counter counter,
                                                      struct drng_sink *sink)
{
    __m128i block[LANES];
    if (sink->out_blocks + sink->tail_blocks <= LANES / 2) {
        keystream_256(key, counter, block, LANES / 2, NULL);
        drain(sink, block, LANES / 2);
    } else {
        keystream_256(key, counter, block, LANES, NULL);
        drain(sink, block, LANES);
    }
}

/*
 * Serves what is left of a request once the round keys are known: whole groups of lanes into `out`, then single blocks.
 */
DRNG_AES_TARGET static void rest(const struct drng_schedule *schedule, struct drng_counter counter,
                                 struct drng_sink *sink)
{
    __m128i block[LANES];
    for (; sink->out_blocks >= LANES; drng_counter_add(&counter, LANES)) {
        keystream(schedule, counter, block, LANES);
        for (int i = 0; i < LANES; i++) {
            _mm_storeu_si128((__m128i *)sink->out + i, block[i]);
        }
        sink->out += (size_t)LANES * DRNG_AES_BLOCK;
        sink->out_blocks -= LANES;
    }
    for (; sink->out_blocks + sink->tail_blocks > 0; drng_counter_add(&counter, LANES)) {
        keystream(schedule, counter, block, LANES);
        drain(sink, block, LANES);
    }
}

DRNG_AES_TARGET DRNG_OWN_FRAME void drng_aes_ni_medium(const uint8_t key[32], struct drng_counter counter,
                                                       struct drng_sink *sink)
{
    struct drng_schedule schedule;
    __m128i block[LANES];

    schedule.rounds = 14;
    keystream_256(key, counter, block, LANES, &schedule);
    drain(sink, block, LANES);
    drng_counter_add(&counter, LANES);
    rest(&schedule, counter, sink);
}

DRNG_AES_TARGET DRNG_OWN_FRAME void drng_aes_ni_rest(const struct drng_schedule *schedule, struct drng_counter counter,
                                                     struct drng_sink *sink)
{
    rest(schedule, counter, sink);
}

DRNG_AES_TARGET DRNG_OWN_FRAME static void cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out,
                                               const uint8_t *in, size_t blocks)
{
    struct drng_schedule schedule;
    __m128i block = _mm_loadu_si128((const __m128i *)chain);

    drng_aes_expand(&schedule, key, key_len);
    for (size_t i = 0; i < blocks; i++) {
        if (in != NULL) {
            block = _mm_xor_si128(block, _mm_loadu_si128((const __m128i *)in + i));
        }
        block = _mm_xor_si128(block, schedule.rk[0]);
        for (unsigned round = 1; round < schedule.rounds; round++) {
            block = _mm_aesenc_si128(block, schedule.rk[round]);
        }
        block = _mm_aesenclast_si128(block, schedule.rk[schedule.rounds]);
        if (out != NULL) {
            _mm_storeu_si128((__m128i *)out + i, block);
        }
    }
    _mm_storeu_si128((__m128i *)chain, block);
}

void drng_aes_ni_cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out, const uint8_t *in,
                     size_t blocks)
{
    cbc(key, key_len, chain, out, in, blocks);
    drng_wipe_stack_512();
}
