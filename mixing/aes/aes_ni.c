/* SPDX-License-Identifier: Apache-2.0 */
/* AES-NI: long requests, and CBC for the conditioner and the derivation function, one block at a time. */

#define LANE_BLOCKS 1
#include "mixing/aes/aes_x86.h"
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/wipe.h"

LANE_TARGET DRNG_OWN_FRAME static void fill(const uint8_t *key, size_t key_len, uint8_t *v, uint8_t *out,
                                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    long_request(key, key_len, v, out, out_blocks, tail, tail_blocks);
}

void drng_aes_ni_ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                     uint8_t *tail, size_t tail_blocks)
{
    fill(key, key_len, v, out, out_blocks, tail, tail_blocks);
    drng_wipe_stack_1024();
}

/* The first block goes along with the key schedule. */
LANE_TARGET DRNG_OWN_FRAME static void chain_blocks(const uint8_t *key, size_t key_len, uint8_t *chain, uint8_t *out,
                                                    const uint8_t *in, size_t blocks)
{
    __m128i rk[ROUND_KEYS];
    lane block = _mm_loadu_si128((const __m128i *)chain);

    load_key(rk, key, key_len);
    for (size_t i = 0; i < blocks; i++) {
        if (in != NULL) {
            block = _mm_xor_si128(block, _mm_loadu_si128((const __m128i *)in + i));
        }
        if (i == 0) {
            expand_and_encrypt(rk, key_len, &block, 1);
        } else {
            add_round_key(&block, 1, rk[0]);
            do_rounds(rk, key_len, &block, 1);
        }
        if (out != NULL) {
            _mm_storeu_si128((__m128i *)out + i, block);
        }
    }
    _mm_storeu_si128((__m128i *)chain, block);
}

void drng_aes_ni_cbc(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out, const uint8_t *in,
                     size_t blocks)
{
    chain_blocks(key, key_len, chain, out, in, blocks);
    drng_wipe_stack_1024();
}
