/* SPDX-License-Identifier: Apache-2.0 */
/* Which implementations of AES a CPU of 64-bit ARM can run. */

#include "mixing/aes/aes.h"

size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS])
{
    size_t count = 0;
    all[count++] = &drng_aes_portable;
    if (cpu->aes) {
        all[count++] = &drng_aes_arm;
    }
    return count;
}
