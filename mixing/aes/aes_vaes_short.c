/* AES-256 for short requests, with VAES on 256-bit registers: no CPU lowers its clock for these. */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"
#include "mixing/memory/wipe.h"

#define WIDE        __attribute__((target("vaes,avx2,aes")))
#define WIDE_INLINE static inline __attribute__((always_inline, target("vaes,avx2,aes")))

/*
 * Two sizes: a request of 128 bytes with its Update, and the longest one. Every lane goes through each round, even if
 * the request does not need it: with a number of lanes that is not constant the compiler would keep them in memory.
 */
enum {
    PER_LANE = 2,
    LANES = DRNG_AES_SHORT_BLOCKS / PER_LANE,
    FEWER_BLOCKS = 12,
    FEWER_LANES = FEWER_BLOCKS / PER_LANE,
};

/* The three steps of AES that take a round key, each on every lane. */
WIDE_INLINE void add_round_key(__m256i *lane, const int lanes, __m128i round_key)
{
    const __m256i wide = _mm256_broadcastsi128_si256(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        lane[i] = _mm256_xor_si256(lane[i], wide);
    }
}

WIDE_INLINE void do_round(__m256i *lane, const int lanes, __m128i round_key)
{
    const __m256i wide = _mm256_broadcastsi128_si256(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        lane[i] = _mm256_aesenc_epi128(lane[i], wide);
    }
}

WIDE_INLINE void do_last_round(__m256i *lane, const int lanes, __m128i round_key)
{
    const __m256i wide = _mm256_broadcastsi128_si256(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        lane[i] = _mm256_aesenclast_epi128(lane[i], wide);
    }
}

/* The counters V + 1, V + 2 and so on, as blocks. */
WIDE_INLINE void count(struct drng_counter counter, __m256i *lane, const int lanes)
{
    const __m256i v = _mm256_broadcastsi128_si256(drng_counter_words(counter));
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        const __m256i sum = _mm256_add_epi64(v, _mm256_set_epi64x(0, PER_LANE * i + 2, 0, PER_LANE * i + 1));
        lane[i] = drng_counter_blocks(v, sum);
    }
}

/* The round keys are computed on the way: so no schedule lies in memory, and the latency of both is hidden. */
WIDE_INLINE void keystream(const uint8_t *key, __m256i *lane, const int lanes)
{
    __m128i even = _mm_loadu_si128((const __m128i *)key);
    __m128i odd = _mm_loadu_si128((const __m128i *)(key + 16));
    add_round_key(lane, lanes, even);
    do_round(lane, lanes, odd);
    DRNG_AES_UNROLL
    for (int rcon = 1; rcon < 0x40; rcon <<= 1) {
        even = drng_aes_next_key(even, odd, rcon);
        do_round(lane, lanes, even);
        odd = drng_aes_next_odd_key(odd, even);
        do_round(lane, lanes, odd);
    }
    even = drng_aes_next_key(even, odd, 0x40);
    do_last_round(lane, lanes, even);
}

/* `lanes` is a constant wherever this is inlined. */
WIDE_INLINE void fill(const uint8_t *key, struct drng_counter counter, struct drng_sink *sink, const int lanes)
{
    __m256i lane[LANES];
    count(counter, lane, lanes);
    keystream(key, lane, lanes);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        drng_sink_take(sink, _mm256_castsi256_si128(lane[i]));
        /* The asm keeps the compiler from extracting all halves at once, which takes more registers than there are. */
        __asm__ volatile("" : "+x"(lane[i]));
        drng_sink_take(sink, _mm256_extracti128_si256(lane[i], 1));
    }
}

WIDE DRNG_OWN_FRAME static void fill_fewer(const uint8_t *key, struct drng_counter counter, struct drng_sink *sink)
{
    fill(key, counter, sink, FEWER_LANES);
}

WIDE DRNG_OWN_FRAME static void fill_all(const uint8_t *key, struct drng_counter counter, struct drng_sink *sink)
{
    fill(key, counter, sink, LANES);
}

WIDE void drng_aes_vaes_short(const uint8_t key[32], struct drng_counter counter, struct drng_sink *sink)
{
    const size_t blocks = sink->out_blocks + sink->tail_blocks;
    if (blocks <= FEWER_BLOCKS) {
        fill_fewer(key, counter, sink);
    } else {
        fill_all(key, counter, sink);
    }
}
