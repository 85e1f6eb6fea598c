/* SPDX-License-Identifier: Apache-2.0 */
/* Long requests with VAES on 512-bit registers. */

#define LANE_BLOCKS 4
#include "mixing/aes/aes_x86.h"
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/wipe.h"

/* With constant lengths all round keys stay in registers. */
LANE_TARGET DRNG_OWN_FRAME static void fill(const uint8_t *key, size_t key_len, uint8_t *v, uint8_t *out,
                                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    if (key_len == 16) {
        long_request(key, 16, v, out, out_blocks, tail, tail_blocks);
    } else if (key_len == 24) {
        long_request(key, 24, v, out, out_blocks, tail, tail_blocks);
    } else {
        long_request(key, 32, v, out, out_blocks, tail, tail_blocks);
    }
    /* GCC saves general registers in mask registers, and these may hold halves of V. */
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7\n\tkxorq %%k\\n, %%k\\n, %%k\\n\n\t.endr"
                     :
                     :
                     : "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7");
}

void drng_aes_vaes512_ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                          size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    if (out_blocks < DRNG_AES_VAES512_MIN) {
        drng_aes_vaes256_ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
        return;
    }
    fill(key, key_len, v, out, out_blocks, tail, tail_blocks);
    drng_wipe_stack_1536_avx();
}
