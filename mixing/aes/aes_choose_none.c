/* SPDX-License-Identifier: Apache-2.0 */
/* Every processor but x86-64 and 64-bit ARM runs AES in plain C. */

#include "mixing/aes/aes.h"

size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS])
{
    (void)cpu;
    all[0] = &drng_aes_portable;
    return 1;
}
