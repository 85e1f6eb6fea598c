/* AES with VAES on 512-bit registers: four blocks in each, eight registers in flight. */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"
#include "mixing/memory/wipe.h"

#define WIDE __attribute__((target("vaes,avx512f,avx512bw,aes")))

enum {
    LANES = 8,
    PER_LANE = 4,
    GROUP = LANES * PER_LANE,
};

/* The blocks of the counters `sum`; v is the counter before the addition. See drng_counter_block(). */
WIDE static inline __m512i counter_blocks(__m512i v, __m512i sum)
{
    const __mmask8 wrapped = _mm512_cmplt_epu64_mask(_mm512_bslli_epi128(sum, 8), _mm512_bslli_epi128(v, 8));
    const __m512i carried = _mm512_mask_add_epi64(sum, wrapped, sum, _mm512_set1_epi64(1));
    return _mm512_shuffle_epi8(carried, _mm512_broadcast_i32x4(drng_counter_reverse()));
}

WIDE DRNG_OWN_FRAME static size_t whole_groups(const struct drng_schedule *schedule, struct drng_counter *counter,
                                               uint8_t *out, size_t blocks)
{
    const __m512i step = _mm512_set_epi64(0, PER_LANE, 0, PER_LANE, 0, PER_LANE, 0, PER_LANE);
    const size_t groups = blocks / GROUP;
    const unsigned rounds = schedule->rounds;
    __m512i key[15];
    __m512i lane[LANES];
    const __m512i v = _mm512_broadcast_i32x4(drng_counter_words(*counter));
    __m512i next = _mm512_add_epi64(v, _mm512_set_epi64(0, 4, 0, 3, 0, 2, 0, 1));

    for (unsigned round = 0; round <= rounds; round++) {
        key[round] = _mm512_broadcast_i32x4(schedule->rk[round]);
    }
    const __m512i last = key[rounds];
    for (size_t group = 0; group < groups; group++) {
        for (int i = 0; i < LANES; i++) {
            lane[i] = _mm512_xor_si512(counter_blocks(v, next), key[0]);
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
    drng_counter_add(counter, groups * GROUP);
    return groups * GROUP;
}

/* GCC saves general registers in mask registers, and these may hold halves of V. */
WIDE static inline void clear_masks(void)
{
    __asm__ volatile("kxorq %%k0, %%k0, %%k0\n\tkxorq %%k1, %%k1, %%k1\n\tkxorq %%k2, %%k2, %%k2\n\t"
                     "kxorq %%k3, %%k3, %%k3\n\tkxorq %%k4, %%k4, %%k4\n\tkxorq %%k5, %%k5, %%k5\n\t"
                     "kxorq %%k6, %%k6, %%k6\n\tkxorq %%k7, %%k7, %%k7"
                     :
                     :
                     : "k1", "k2", "k3", "k4", "k5", "k6", "k7");
}

WIDE size_t drng_aes_vaes512_bulk(const struct drng_schedule *schedule, struct drng_counter *counter, uint8_t *out,
                                  size_t blocks)
{
    const size_t done = whole_groups(schedule, counter, out, blocks);
    clear_masks();
    return done;
}
