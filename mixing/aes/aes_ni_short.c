/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short requests with AES-NI: nearly all requests are. A function for each size, with a frame of its own: one block of
 * output, two, five and nine, each with the three of an Update, and an Update alone. Twelve blocks and two round keys
 * fit in sixteen registers.
 */

#define LANE_BLOCKS 1
#include "mixing/aes/aes_x86.h"
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/instructions_x86.h"
#include "mixing/machine/wipe.h"

SHORT_REQUEST(one, 4)
SHORT_REQUEST(two, 5)
SHORT_REQUEST(more, 8)
SHORT_REQUEST(most, 12)

LANE_TARGET DRNG_OWN_FRAME void drng_aes_ni_update(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK],
                                                   const uint8_t *provided)
{
    short_request(key, key_len, v, NULL, 0, provided, 3);
}

void drng_aes_ni_request(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                         const uint8_t *provided)
{
    if (out_len <= DRNG_AES_BLOCK) {
        one(key, key_len, v, out, out_len, provided);
    } else if (out_len <= (size_t)2 * DRNG_AES_BLOCK) {
        two(key, key_len, v, out, out_len, provided);
    } else if (out_len <= (size_t)5 * DRNG_AES_BLOCK) {
        more(key, key_len, v, out, out_len, provided);
    } else {
        most(key, key_len, v, out, out_len, provided);
    }
    drng_cpu_clear_sse();
    drng_wipe_stack_256();
}
