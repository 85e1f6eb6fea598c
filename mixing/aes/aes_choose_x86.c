/* SPDX-License-Identifier: Apache-2.0 */
/* Which implementations of AES a CPU of x86-64 can run, and which kernels each has. */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"

const struct drng_aes drng_aes_ni = {
    "AES-NI", true, drng_aes_ni_ctr, drng_aes_ni_cbc, drng_aes_ni_request, DRNG_AES_NI_SHORT, false,
};
const struct drng_aes drng_aes_avx = {
    "AES-NI", true, drng_aes_ni_ctr, drng_aes_ni_cbc, drng_aes_avx_request, DRNG_AES_NI_SHORT, false,
};
const struct drng_aes drng_aes_vaes256 = {
    "VAES-256", true, drng_aes_vaes256_ctr, drng_aes_ni_cbc, drng_aes_vaes_request, DRNG_AES_VAES_SHORT, true,
};
const struct drng_aes drng_aes_vaes512 = {
    "VAES-512", true, drng_aes_vaes512_ctr, drng_aes_ni_cbc, drng_aes_vaes_request, DRNG_AES_VAES_SHORT, true,
};

size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS])
{
    size_t count = 0;
    all[count++] = &drng_aes_portable;
    if (cpu->aes) {
        all[count++] = &drng_aes_ni;
    }
    if (cpu->avx) {
        all[count++] = &drng_aes_avx;
    }
    if (cpu->vaes256) {
        all[count++] = &drng_aes_vaes256;
    }
    if (cpu->vaes512) {
        all[count++] = &drng_aes_vaes512;
    }
    return count;
}
