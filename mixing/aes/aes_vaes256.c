/* SPDX-License-Identifier: Apache-2.0 */
/* Long requests with VAES on 256-bit registers. */

#define LANE_BLOCKS 2
#include "mixing/aes/aes_x86.h"
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/wipe.h"

LANE_TARGET DRNG_OWN_FRAME static void fill(const uint8_t *key, size_t key_len, uint8_t *v, uint8_t *out,
                                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    long_request(key, key_len, v, out, out_blocks, tail, tail_blocks);
}

void drng_aes_vaes256_ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                          size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    fill(key, key_len, v, out, out_blocks, tail, tail_blocks);
    drng_wipe_stack_1536_avx();
}
