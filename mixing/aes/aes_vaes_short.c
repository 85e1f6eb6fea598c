/* SPDX-License-Identifier: Apache-2.0 */
/* Short requests with VAES on 256-bit registers: no CPU lowers its clock for these. See short_x86.h. */

#define LANE_BLOCKS 2
#include "mixing/aes/aes_x86.h"
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/wipe.h"

enum {
    NARROW = 5 * DRNG_AES_BLOCK, /* up to here AES-NI takes no longer */
    FEWER = 8 * DRNG_AES_BLOCK,  /* four lanes, and two of an Update */
};

SHORT_REQUEST(fewer, 6)
SHORT_REQUEST(most, 10)

void drng_aes_vaes_request(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                           const uint8_t *fresh)
{
    if (out_len <= NARROW) {
        drng_aes_avx_request(key, key_len, v, out, out_len, fresh);
        return;
    }
    if (out_len <= FEWER) {
        fewer(key, key_len, v, out, out_len, fresh);
    } else {
        most(key, key_len, v, out, out_len, fresh);
    }
    drng_wipe_stack_512_avx();
    drng_cpu_clear_vectors();
}
