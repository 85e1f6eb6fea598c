/* Long requests with VAES on 512-bit registers: four blocks in each, eight in flight, and the round keys in others. */

#include "mixing/aes/aes_x86.h"
#include "mixing/memory/wipe.h"

#define WIDE __attribute__((target("vaes,avx512f,avx512bw,aes")))

typedef __m512i lane;
#define LANE_INLINE static inline __attribute__((always_inline, target("vaes,avx512f,avx512bw,aes")))

LANE_INLINE void add_round_key(lane *block, const int lanes, __m128i round_key)
{
    const lane wide = _mm512_broadcast_i32x4(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm512_xor_si512(block[i], wide);
    }
}

LANE_INLINE void do_round(lane *block, const int lanes, __m128i round_key)
{
    const lane wide = _mm512_broadcast_i32x4(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm512_aesenc_epi128(block[i], wide);
    }
}

LANE_INLINE void do_last_round(lane *block, const int lanes, __m128i round_key)
{
    const lane wide = _mm512_broadcast_i32x4(round_key);
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = _mm512_aesenclast_epi128(block[i], wide);
    }
}

#include "mixing/aes/keystream_x86.h"

enum {
    PER_LANE = 4,
    GROUP = DRNG_AES_VAES512_MIN, /* the last group overlaps with the one before, and has to fit */
    LANES = GROUP / PER_LANE,
    HEAD = GROUP - DRNG_AES_TAIL, /* blocks of output that are made along with the tail */
    MOST_KEYS = 15,
};
_Static_assert((int)DRNG_AES_TAIL == (int)PER_LANE, "the tail is a lane");

/* The blocks of the counters `sum`; v is the counter before the addition. See drng_counter_block(). */
LANE_INLINE lane counter_blocks(lane v, lane sum)
{
    const __mmask8 wrapped = _mm512_cmplt_epu64_mask(_mm512_bslli_epi128(sum, 8), _mm512_bslli_epi128(v, 8));
    const lane carried = _mm512_mask_add_epi64(sum, wrapped, sum, _mm512_set1_epi64(1));
    return _mm512_shuffle_epi8(carried, _mm512_broadcast_i32x4(drng_counter_reverse()));
}

/* The counters after V + at. */
LANE_INLINE void count(lane v, size_t at, lane *block, const int lanes)
{
    const lane step = _mm512_set_epi64(0, PER_LANE, 0, PER_LANE, 0, PER_LANE, 0, PER_LANE);
    const lane offset = _mm512_maskz_set1_epi64(0x55, (long long)at);
    lane next = _mm512_add_epi64(_mm512_add_epi64(v, offset), _mm512_set_epi64(0, 4, 0, 3, 0, 2, 0, 1));
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        block[i] = counter_blocks(v, next);
        next = _mm512_add_epi64(next, step);
    }
}

LANE_INLINE void put_out(uint8_t *out, const lane *block, const int lanes)
{
    DRNG_AES_UNROLL
    for (int i = 0; i < lanes; i++) {
        _mm512_storeu_si512(out + (size_t)i * PER_LANE * DRNG_AES_BLOCK, block[i]);
    }
}

LANE_INLINE void put_tail(const struct drng_stretch *stretch, lane tail)
{
    const __mmask8 words = (__mmask8)((1U << 2 * stretch->tail_blocks) - 1);
    _mm512_mask_storeu_epi64(stretch->tail, words, tail);
}

LANE_INLINE void encrypt(const __m128i *round_key, const int rounds, lane *block)
{
    add_round_key(block, LANES, round_key[0]);
    DRNG_AES_UNROLL
    for (int round = 1; round < rounds; round++) {
        do_round(block, LANES, round_key[round]);
    }
    do_last_round(block, LANES, round_key[rounds]);
}

/* key_len is a constant wherever this is inlined: so all round keys stay in registers. */
LANE_INLINE void serve(const struct drng_stretch *stretch, const size_t key_len)
{
    const lane v = _mm512_broadcast_i32x4(drng_counter_loaded(stretch->v));
    const size_t blocks = stretch->out_blocks;
    __m128i round_key[MOST_KEYS];
    lane block[LANES];

    count(v, blocks, block, 1);
    count(v, 0, block + 1, LANES - 1);
    keystream(stretch->key, key_len, block, LANES, round_key);
    put_tail(stretch, block[0]);
    put_out(stretch->out, block + 1, LANES - 1);
    for (size_t done = HEAD; done < blocks; done += GROUP) {
        const size_t at = drng_group_at(done, blocks, GROUP);
        count(v, at, block, LANES);
        encrypt(round_key, (int)drng_aes_rounds(key_len), block);
        put_out(stretch->out + at * DRNG_AES_BLOCK, block, LANES);
    }
}

/* GCC saves general registers in mask registers, and these may hold halves of V. */
LANE_INLINE void clear_masks(void)
{
    __asm__ volatile("kxorq %%k0, %%k0, %%k0\n\tkxorq %%k1, %%k1, %%k1\n\tkxorq %%k2, %%k2, %%k2\n\t"
                     "kxorq %%k3, %%k3, %%k3\n\tkxorq %%k4, %%k4, %%k4\n\tkxorq %%k5, %%k5, %%k5\n\t"
                     "kxorq %%k6, %%k6, %%k6\n\tkxorq %%k7, %%k7, %%k7"
                     :
                     :
                     : "k1", "k2", "k3", "k4", "k5", "k6", "k7");
}

WIDE DRNG_OWN_FRAME void drng_aes_vaes512_long(const struct drng_stretch *stretch, size_t key_len)
{
    switch (key_len) {
    case 16:
        serve(stretch, 16);
        break;
    case 24:
        serve(stretch, 24);
        break;
    default:
        serve(stretch, 32);
        break;
    }
    clear_masks();
}
