/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES with AESE and AESMC; 64-bit ARM.
 *
 * AESE adds a round key, and then does SubBytes and ShiftRows. So a round begins with its key, where FIPS 197 ends it
 * with one, and the last key is added by itself.
 *
 * Arm lists both instructions among those whose time does not depend on their data while PSTATE.DIT is set (DDI 0595,
 * "DIT, Data Independent Timing"). Without that bit, which is not set here, the architecture says nothing of any
 * instruction.
 *
 * There are 32 vector registers: 20 blocks fit in them together with the round keys, which a short request computes on
 * the way. So it has no schedule in memory.
 */

#include "mixing/aes/aes.h"
#include "mixing/aes/neon_aes.h"
#include "mixing/aes/schedule.h"
#include "mixing/machine/wipe.h"

#define KERNEL DRNG_NEON_AES
#define INLINE DRNG_NEON_AES_INLINE
#define UNROLL DRNG_NEON_UNROLL

enum {
    BLOCK = DRNG_AES_BLOCK,
    LANES = 8, /* blocks in flight in a long request: enough to hide the latency of the pair of instructions */
    /* Sizes of short requests: a request of 16, 80, 128 and 256 bytes, with its Update. */
    FEWEST = 4,
    FEWER = 8,
    FEW = 12,
    SHORT = 20,
};

/* ---- Key schedules: FIPS 197, 5.2 ---- */

INLINE uint8x16_t zero(void)
{
    return vdupq_n_u8(0);
}

/* Moves each of the words `words` places up, and zeros come in below. `words` is a constant. */
#define UP(key, words) vextq_u8(zero(), (key), BLOCK - 4 * (words))

/* w0, w0^w1, w0^w1^w2, w0^w1^w2^w3: each word of a round key is the XOR of the words up to it. */
INLINE uint8x16_t prefix(uint8x16_t key)
{
    key = veorq_u8(key, UP(key, 1));
    return veorq_u8(key, UP(key, 2));
}

/* SubWord of four equal words: ShiftRows changes nothing there, and the key that is added is zero. */
INLINE uint8x16_t sub_words(uint8x16_t words)
{
    return vaeseq_u8(words, zero());
}

INLINE uint32_t sub_word(uint32_t word)
{
    return vgetq_lane_u32(vreinterpretq_u32_u8(sub_words(vreinterpretq_u8_u32(vdupq_n_u32(word)))), 0);
}

/* For Nk = 8 the round key two after `key`, where last is the one between: SubWord(RotWord(last word)) and rcon. */
INLINE uint8x16_t next_key(uint8x16_t key, uint8x16_t last, unsigned rcon)
{
    const uint8x16_t rotation = vreinterpretq_u8_u32(vdupq_n_u32(0x0c0f0e0d)); /* bytes 1, 2, 3, 0 of the last word */
    key = veorq_u8(prefix(key), vreinterpretq_u8_u32(vdupq_n_u32(rcon)));
    return veorq_u8(key, sub_words(vqtbl1q_u8(last, rotation)));
}

/* The same where i mod 8 = 4: SubWord without RotWord and round constant. */
INLINE uint8x16_t next_odd_key(uint8x16_t key, uint8x16_t last)
{
    return veorq_u8(prefix(key), sub_words(vreinterpretq_u8_u32(vdupq_laneq_u32(vreinterpretq_u32_u8(last), 3))));
}

/* An expanded key of any size. Secret: the stack that it lies on is wiped after use. */
struct schedule {
    union {
        uint32_t w[SCHEDULE_WORDS];
        uint8x16_t rk[15];
    };
    unsigned rounds; /* 10, 12 or 14 */
};

/* ---- Blocks in lanes. `lanes` is a constant wherever these are inlined ---- */

INLINE void do_round(uint8x16_t *block, const int lanes, uint8x16_t round_key)
{
    UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = vaesmcq_u8(vaeseq_u8(block[i], round_key));
    }
}

INLINE void do_last_round(uint8x16_t *block, const int lanes, uint8x16_t round_key, uint8x16_t last_key)
{
    UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = veorq_u8(vaeseq_u8(block[i], round_key), last_key);
    }
}

/* The blocks V + 1, V + 2 and so on. They are made in general registers, which AES leaves free. */
INLINE void count(struct drng_counter counter, uint8x16_t *block, const int lanes)
{
    UNROLL
    for (int i = 0; i < lanes; i++) {
        drng_counter_add(&counter, 1);
        const uint64x1_t high = vcreate_u64(__builtin_bswap64(counter.high));
        const uint64x1_t low = vcreate_u64(__builtin_bswap64(counter.low));
        block[i] = vreinterpretq_u8_u64(vcombine_u64(high, low));
        /* Each block before the next counter: the compiler would make all counters first, and spill them. */
        drng_neon_finish(&block[i], &counter.low, &counter.high);
    }
}

/* Makes the `lanes` blocks of keystream after `counter`. */
INLINE void keystream(const struct schedule *schedule, struct drng_counter counter, uint8x16_t *block, const int lanes)
{
    const unsigned last = schedule->rounds - 1;
    count(counter, block, lanes);
    for (unsigned round = 0; round < last; round++) {
        do_round(block, lanes, schedule->rk[round]);
    }
    do_last_round(block, lanes, schedule->rk[last], schedule->rk[last + 1]);
}

/* The same for AES-256, computing the round keys on the way, which hides the latency of both. */
INLINE void keystream_256(const uint8_t *key, struct drng_counter counter, uint8x16_t *block, const int lanes)
{
    uint8x16_t even = vld1q_u8(key);
    uint8x16_t odd = vld1q_u8(key + BLOCK);
    count(counter, block, lanes);
    do_round(block, lanes, even);
    for (unsigned rcon = 1; rcon < 0x40; rcon <<= 1) {
        do_round(block, lanes, odd);
        even = next_key(even, odd, rcon);
        do_round(block, lanes, even);
        odd = next_odd_key(odd, even);
    }
    do_last_round(block, lanes, odd, next_key(even, odd, 0x40));
}

INLINE void drain(struct drng_sink *sink, const uint8x16_t *block, const int lanes)
{
    UNROLL
    for (int i = 0; i < lanes; i++) {
        uint8_t *place = drng_sink_next(sink);
        if (place != NULL) {
            vst1q_u8(place, block[i]);
        }
    }
}

/* ---- Short requests: nearly all requests are. One function for each size, with a frame of its own ---- */

typedef void short_request(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink);

#define SHORT_REQUEST(name, lanes)                                                                                     \
    KERNEL DRNG_OWN_FRAME static void name(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink) \
    {                                                                                                                  \
        uint8x16_t block[lanes];                                                                                       \
        keystream_256(key, counter, block, lanes);                                                                     \
        drain(sink, block, lanes);                                                                                     \
    }

SHORT_REQUEST(fill_fewest, FEWEST)
SHORT_REQUEST(fill_fewer, FEWER)
SHORT_REQUEST(fill_few, FEW)
SHORT_REQUEST(fill_short, SHORT)

static inline short_request *short_for(size_t blocks)
{
    if (blocks <= FEWER) {
        return blocks <= FEWEST ? fill_fewest : fill_fewer;
    }
    return blocks <= FEW ? fill_few : fill_short;
}

/* ---- Long requests, and keys of other sizes ---- */

/* Whole groups of lanes into `out`, then what is left block by block. */
KERNEL DRNG_OWN_FRAME static void fill_long(const uint8_t *key, size_t key_len, struct drng_counter counter,
                                            struct drng_sink *sink)
{
    struct schedule schedule;
    uint8x16_t block[LANES];

    schedule.rounds = make_schedule(schedule.w, key, key_len, sub_word);
    for (; sink->out_blocks >= LANES; drng_counter_add(&counter, LANES)) {
        keystream(&schedule, counter, block, LANES);
        UNROLL
        for (size_t i = 0; i < LANES; i++) {
            vst1q_u8(sink->out + i * BLOCK, block[i]);
        }
        sink->out += (size_t)LANES * BLOCK;
        sink->out_blocks -= LANES;
    }
    for (; sink->out_blocks + sink->tail_blocks > 0; drng_counter_add(&counter, LANES)) {
        keystream(&schedule, counter, block, LANES);
        drain(sink, block, LANES);
    }
}

/* ---- The two modes ---- */

/* A short request leaves secrets only within DRNG_AES_STACK, which its caller wipes. */
static void ctr(const uint8_t *key, size_t key_len, uint8_t v[BLOCK], uint8_t *out, size_t out_blocks, uint8_t *tail,
                size_t tail_blocks)
{
    const size_t blocks = out_blocks + tail_blocks;
    const struct drng_counter counter = drng_counter_load(v);
    struct drng_counter last = counter;
    struct drng_sink sink = {out, out_blocks, tail, tail_blocks};

    drng_counter_add(&last, blocks);
    if (key_len == 32 && blocks <= SHORT) {
        short_for(blocks)(key, counter, &sink);
    } else {
        fill_long(key, key_len, counter, &sink);
        drng_wipe_stack_512();
    }
    drng_counter_store(v, last);
}

KERNEL DRNG_OWN_FRAME static void chain_blocks(const uint8_t *key, size_t key_len, uint8_t chain[BLOCK], uint8_t *out,
                                               const uint8_t *in, size_t blocks)
{
    struct schedule schedule;
    uint8x16_t block = vld1q_u8(chain);

    schedule.rounds = make_schedule(schedule.w, key, key_len, sub_word);
    const unsigned last = schedule.rounds - 1;
    for (size_t i = 0; i < blocks; i++) {
        if (in != NULL) {
            block = veorq_u8(block, vld1q_u8(in + i * BLOCK));
        }
        for (unsigned round = 0; round < last; round++) {
            do_round(&block, 1, schedule.rk[round]);
        }
        do_last_round(&block, 1, schedule.rk[last], schedule.rk[last + 1]);
        if (out != NULL) {
            vst1q_u8(out + i * BLOCK, block);
        }
    }
    vst1q_u8(chain, block);
}

static void cbc(const uint8_t *key, size_t key_len, uint8_t chain[BLOCK], uint8_t *out, const uint8_t *in,
                size_t blocks)
{
    chain_blocks(key, key_len, chain, out, in, blocks);
    drng_wipe_stack_512();
}

const struct drng_aes drng_aes_arm = {.name = "ARMv8-AES", .ctr = ctr, .cbc = cbc};
