/* CBC with AES-NI: for seeds, where there is one block at a time, and for the chains of the derivation function. */

#include "mixing/aes/lanes_ni.h"
#include "mixing/memory/wipe.h"

DRNG_AES_INLINE lane cbc_input(const uint8_t *in, size_t i)
{
    return in != NULL ? _mm_loadu_si128((const __m128i *)in + i) : _mm_setzero_si128();
}

DRNG_AES_INLINE void cbc_output(uint8_t *out, size_t i, lane block)
{
    if (out != NULL) {
        _mm_storeu_si128((__m128i *)out + i, block);
    }
}

/* The first block goes along with the key schedule. blocks is not 0. */
DRNG_AES_TARGET DRNG_OWN_FRAME static void cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out,
                                               const uint8_t *in, size_t blocks)
{
    struct drng_aes_schedule schedule;
    lane block = _mm_xor_si128(_mm_loadu_si128((const __m128i *)chain), cbc_input(in, 0));

    keystream(key, key_len, &block, 1, (__m128i *)schedule.round_key);
    schedule.rounds = drng_aes_rounds(key_len);
    cbc_output(out, 0, block);
    for (size_t i = 1; i < blocks; i++) {
        block = _mm_xor_si128(block, cbc_input(in, i));
        encrypt(&schedule, &block, 1);
        cbc_output(out, i, block);
    }
    _mm_storeu_si128((__m128i *)chain, block);
}

void drng_aes_ni_cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out, const uint8_t *in,
                     size_t blocks)
{
    if (blocks > 0) {
        cbc(key, key_len, chain, out, in, blocks);
        drng_wipe_stack_512();
    }
}

DRNG_AES_TARGET DRNG_OWN_FRAME void drng_aes_ni_chains(const struct drng_aes_schedule *schedule,
                                                       uint8_t chain[DRNG_AES_CHAINS][DRNG_AES_BLOCK],
                                                       const uint8_t *in, size_t blocks)
{
    lane block[DRNG_AES_CHAINS];

    DRNG_AES_UNROLL
    for (int i = 0; i < DRNG_AES_CHAINS; i++) {
        block[i] = _mm_loadu_si128((const __m128i *)chain[i]);
    }
    for (size_t i = 0; i < blocks; i++) {
        add_round_key(block, DRNG_AES_CHAINS, cbc_input(in, i));
        encrypt(schedule, block, DRNG_AES_CHAINS);
    }
    DRNG_AES_UNROLL
    for (int i = 0; i < DRNG_AES_CHAINS; i++) {
        _mm_storeu_si128((__m128i *)chain[i], block[i]);
    }
}
