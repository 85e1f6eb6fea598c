#include "mixing/entropy/fused_mac.h"

#include <immintrin.h>

#include "mixing/aes/aes_x86.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instructions_x86.h"

/* Reads and tests one word. A result other than DRNG_OK ends the MAC. */
static inline __attribute__((always_inline)) enum drng_result tested_word(uint64_t *word, struct drng_health *health,
                                                                          uint64_t *retries)
{
    if (!drng_try_word(drng_execute_rdrand, DRNG_RDRAND_TRIES, retries, word)) {
        return DRNG_EXHAUSTED;
    }
    return drng_health_passes(health, *word) ? DRNG_OK : DRNG_HEALTH_FAILED;
}

DRNG_AES_TARGET enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                                uint64_t *retries)
{
    struct drng_health tests = *health; /* a copy whose address is not taken can live in registers */
    uint64_t more_tries = 0;
    enum drng_result status = DRNG_OK;
    uint64_t low = 0;
    uint64_t high = 0;
    __m128i rk[11];
    drng_aes_expand_128(rk, mac->key);
    __m128i state = _mm_loadu_si128((const __m128i *)mac->state);

    for (; blocks > 0; blocks--) {
        status = tested_word(&low, &tests, &more_tries);
        if (status != DRNG_OK) {
            break;
        }
        status = tested_word(&high, &tests, &more_tries);
        if (status != DRNG_OK) {
            break;
        }
        const __m128i block = _mm_set_epi64x((long long)high, (long long)low);
        state = drng_aes_encrypt_128(rk, _mm_xor_si128(state, block));
    }
    _mm_storeu_si128((__m128i *)mac->state, state);
    *health = tests;
    *retries += more_tries;
    return status;
}
