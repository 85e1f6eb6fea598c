/* AES with AES-NI, eight blocks in flight: enough to hide the latency of AESENC on every CPU that has it. */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"
#include "mixing/memory/wipe.h"

enum {
    LANES = 8,
    BULK_MIN = 32, /* blocks from which the set-up of the wide registers pays */
};

/* The `lanes` blocks of keystream after *counter, which stays; lanes is a constant wherever this is inlined. */
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
 * The same for AES-256, the round keys made on the way, which hides the latency of both. They are kept in `save` for
 * the blocks that follow; NULL: there are none, and no schedule in memory.
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

/* A short AES-256 request, the one that nearly every caller makes. */
DRNG_AES_TARGET DRNG_OWN_FRAME static void ctr_short_256(const uint8_t *key, struct drng_counter counter,
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

/* The rest of a request whose round keys are at hand: whole groups into `out`, then what is left. */
DRNG_AES_TARGET static void ctr_rest(const struct drng_schedule *schedule, struct drng_counter counter,
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

DRNG_AES_TARGET DRNG_OWN_FRAME static void ctr_medium_256(const uint8_t *key, struct drng_counter counter,
                                                          struct drng_sink *sink)
{
    struct drng_schedule schedule;
    __m128i block[LANES];

    schedule.rounds = 14;
    keystream_256(key, counter, block, LANES, &schedule);
    drain(sink, block, LANES);
    drng_counter_add(&counter, LANES);
    ctr_rest(&schedule, counter, sink);
}

/* As many blocks as fill the wide registers come from there, the rest from here. */
DRNG_AES_TARGET DRNG_OWN_FRAME static void ctr_long(const struct drng_wide *wide, const uint8_t *key, size_t key_len,
                                                    struct drng_counter counter, struct drng_sink *sink)
{
    struct drng_schedule schedule;

    drng_aes_expand(&schedule, key, key_len);
    if (wide != NULL) {
        const size_t done = wide->bulk(&schedule, &counter, sink->out, sink->out_blocks);
        sink->out += done * DRNG_AES_BLOCK;
        sink->out_blocks -= done;
    }
    ctr_rest(&schedule, counter, sink);
}

/*
 * Schedules are wiped here, with what else is kept beside them. The shortest requests keep nothing in memory but what
 * DRNG_AES_STACK allows, and this function itself is in it: the caller wipes that.
 */
void drng_aes_ni_ctr(const struct drng_wide *wide, const uint8_t *key, size_t key_len, uint8_t v[16], uint8_t *out,
                     size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    struct drng_sink sink = {out, out_blocks, tail, tail_blocks};
    const struct drng_counter counter = drng_counter_load(v);
    const size_t blocks = out_blocks + tail_blocks;
    struct drng_counter last = counter;

    drng_counter_add(&last, blocks);
    if (wide != NULL && out_blocks >= BULK_MIN) {
        ctr_long(wide, key, key_len, counter, &sink);
        drng_wipe_stack_2048();
    } else if (key_len != 32 || out_blocks >= BULK_MIN) {
        ctr_long(NULL, key, key_len, counter, &sink);
        drng_wipe_stack_1024();
    } else if (blocks <= LANES) {
        ctr_short_256(key, counter, &sink);
    } else if (wide != NULL && blocks <= DRNG_AES_SHORT_BLOCKS) {
        wide->brief(key, counter, &sink);
        drng_wipe_stack_512_avx();
    } else {
        ctr_medium_256(key, counter, &sink);
        drng_wipe_stack_1024();
    }
    drng_counter_store(v, last);
}

static void ctr(const uint8_t *key, size_t key_len, uint8_t v[16], uint8_t *out, size_t out_blocks, uint8_t *tail,
                size_t tail_blocks)
{
    drng_aes_ni_ctr(NULL, key, key_len, v, out, out_blocks, tail, tail_blocks);
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

const struct drng_aes drng_aes_ni = {.name = "AES-NI", .fuses = true, .ctr = ctr, .cbc = drng_aes_ni_cbc};
