/* RDRAND and CBC-MAC in one loop: raw words stay in registers. */

#include "mixing/entropy/conditioner.h"

#include <immintrin.h>

#define LANE_BLOCKS 1
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instructions_x86.h"

/* Reads and tests one word. A result other than DRNG_OK ends the MAC. */
static inline __attribute__((always_inline)) enum drng_result tested_word(uint64_t *word, struct drng_health *health,
                                                                          const uint64_t **known, uint64_t *retries)
{
    if (__builtin_expect(*known != NULL, 0)) {
        *word = *(*known)++;
    } else if (!drng_try_word(drng_execute_rdrand, DRNG_RDRAND_TRIES, retries, word)) {
        return DRNG_EXHAUSTED;
    }
    return drng_health_passes(health, *word) ? DRNG_OK : DRNG_HEALTH_FAILED;
}

LANE_TARGET enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                            const uint64_t *known, uint64_t *retries)
{
    uint64_t more_tries = 0;
    enum drng_result status = DRNG_OK;
    uint64_t low = 0;
    uint64_t high = 0;
    __m128i rk[ROUND_KEYS];
    expand_and_encrypt(rk, mac->key, 16, NULL, 0);
    __m128i state = _mm_loadu_si128((const __m128i *)mac->state);

    for (; blocks > 0; blocks--) {
        status = tested_word(&low, health, &known, &more_tries);
        if (status != DRNG_OK) {
            break;
        }
        status = tested_word(&high, health, &known, &more_tries);
        if (status != DRNG_OK) {
            break;
        }
        const __m128i block = _mm_set_epi64x((long long)high, (long long)low);
        state = _mm_xor_si128(_mm_xor_si128(state, block), rk[0]);
        UNROLL
        for (int i = 1; i < 10; i++) {
            state = _mm_aesenc_si128(state, rk[i]);
        }
        state = _mm_aesenclast_si128(state, rk[10]);
    }
    _mm_storeu_si128((__m128i *)mac->state, state);
    *retries += more_tries;
    return status;
}
