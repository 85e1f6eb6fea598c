/* SPDX-License-Identifier: Apache-2.0 */
/* Short requests with AES-NI in the encoding of AVX, whose instructions have a third operand for their result. */

#define LANE_BLOCKS 1
#define LANE_AVX
#define REQUEST_NAME    drng_aes_avx_request
#define CLEAR_REGISTERS drng_cpu_clear_avx
#include "mixing/aes/short_x86.h"
