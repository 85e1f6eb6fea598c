/* SPDX-License-Identifier: Apache-2.0 */
/* Short requests on CPUs that have AES-NI and no AVX. */

#define LANE_BLOCKS     1
#define REQUEST_NAME    drng_aes_ni_request
#define CLEAR_REGISTERS drng_cpu_clear_sse
#include "mixing/aes/short_x86.h"
