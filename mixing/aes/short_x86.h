/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_x86.h - short requests with AES-NI: nearly all requests are. A function for each size, with a frame of its own:
 * no block of output, one, two, five and nine, each with the three of an Update. Twelve blocks and two round keys fit
 * in sixteen registers.
 *
 * For aes_ni_short.c and aes_avx_short.c, each of which names its encoding (lanes_x86.h) and these functions.
 */

#ifndef DRNG_SHORT_X86_H
#define DRNG_SHORT_X86_H

#include "mixing/aes/aes_x86.h"
#include "mixing/aes/lanes_x86.h"
#include "mixing/machine/instructions_x86.h"
#include "mixing/machine/wipe.h"

SHORT_REQUEST(none, 3)
SHORT_REQUEST(one, 4)
SHORT_REQUEST(two, 5)
SHORT_REQUEST(more, 8)
SHORT_REQUEST(most, 12)

void REQUEST_NAME(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                  const uint8_t *fresh)
{
    if (out_len - 1 < DRNG_AES_BLOCK) {
        one(key, key_len, v, out, out_len, fresh);
    } else if (out_len - 1 < (size_t)2 * DRNG_AES_BLOCK) {
        two(key, key_len, v, out, out_len, fresh);
    } else if (out_len == 0) {
        none(key, key_len, v, out, out_len, fresh);
    } else if (out_len <= (size_t)5 * DRNG_AES_BLOCK) {
        more(key, key_len, v, out, out_len, fresh);
    } else {
        most(key, key_len, v, out, out_len, fresh);
    }
    CLEAR_REGISTERS();
    drng_wipe_stack_256();
}

#endif
