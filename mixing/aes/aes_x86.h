/* SPDX-License-Identifier: Apache-2.0 */
/* aes_x86.h - the kernels of x86-64. Each wipes what it leaves on the stack. */

#ifndef DRNG_AES_X86_H
#define DRNG_AES_X86_H

#include <stddef.h>
#include <stdint.h>

#include "mixing/aes/aes.h"

/* aes_ni.c. blocks of CBC may be 0. */
drng_aes_ctr drng_aes_ni_ctr;
drng_aes_cbc drng_aes_ni_cbc;

/* short_x86.h and aes_vaes_short.c: drng_aes.request with their short_len. */
enum {
    DRNG_AES_NI_SHORT = 9 * DRNG_AES_BLOCK,
    DRNG_AES_VAES_SHORT = 16 * DRNG_AES_BLOCK,
};
drng_aes_request drng_aes_ni_request;
drng_aes_request drng_aes_avx_request;
drng_aes_request drng_aes_vaes_request;

/* aes_vaes256.c and aes_vaes512.c, which leaves fewer blocks than that to registers of half the size. */
enum { DRNG_AES_VAES512_MIN = 32 };
drng_aes_ctr drng_aes_vaes256_ctr;
drng_aes_ctr drng_aes_vaes512_ctr;

/* wipe_x86.S. With AVX, in half the time. */
void drng_wipe_stack_512_avx(void);
void drng_wipe_stack_1536_avx(void); /* a long request */

#endif
