/* SPDX-License-Identifier: Apache-2.0 */
/* RDRAND and CBC-MAC in one loop: raw words stay in registers. */

#include "mixing/entropy/conditioner.h"

#include <immintrin.h>

#define LANE_BLOCKS 1
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/instructions_x86.h"

static inline __attribute__((always_inline)) bool read_word(uint64_t *word, const uint64_t **known, uint64_t *retries)
{
    if (__builtin_expect(*known != NULL, 0)) {
        *word = *(*known)++;
        return true;
    }
    return drng_try_word(drng_execute_rdrand, DRNG_RDRAND_TRIES, retries, word);
}

/*
 * Words are tested when the next two have been read. A test stores the word's print at a place that the word chooses,
 * and until that is known AMD's CPUs do not begin the next RDRAND: that would double the time of a seed.
 */
LANE_TARGET enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                            const uint64_t *known, uint64_t *retries)
{
    struct drng_tests tests = health->tests; /* a copy whose address is not taken can live in registers */
    uint64_t more_tries = 0;
    bool read = true;
    bool passed = true;
    uint64_t low = 0;
    uint64_t high = 0;
    __m128i rk[ROUND_KEYS];
    load_key(rk, mac->key, 16);
    expand_and_encrypt(rk, 16, NULL, 0);
    __m128i state = _mm_loadu_si128((const __m128i *)mac->state);

    for (size_t i = 0; i <= blocks && read && passed; i++) {
        const uint64_t low_before = low;
        const uint64_t high_before = high;
        read = i == blocks || (read_word(&low, &known, &more_tries) && read_word(&high, &known, &more_tries));
        if (__builtin_expect(i > 0, 1)) {
            passed = drng_tests_pass(&tests, health->prints, low_before) &&
                     drng_tests_pass(&tests, health->prints, high_before);
        }
        if (i < blocks && read) {
            const __m128i block = _mm_set_epi64x((long long)high, (long long)low);
            state = _mm_xor_si128(_mm_xor_si128(state, block), rk[0]);
            UNROLL
            for (int round = 1; round < 10; round++) {
                state = _mm_aesenc_si128(state, rk[round]);
            }
            state = _mm_aesenclast_si128(state, rk[10]);
        }
    }
    _mm_storeu_si128((__m128i *)mac->state, state);
    health->tests = tests;
    *retries += more_tries;
    return !passed ? DRNG_HEALTH_FAILED : read ? DRNG_OK : DRNG_EXHAUSTED;
}
