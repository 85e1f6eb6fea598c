/* Which implementations of AES a CPU of x86-64 can run, and which kernels each has. */

#include "mixing/aes/aes.h"
#include "mixing/aes/aes_x86.h"

const struct drng_aes drng_aes_ni = {.name = "AES-NI",
                                     .fuses = true,
                                     .ctr = drng_aes_ni_ctr,
                                     .cbc = drng_aes_ni_cbc,
                                     .request = drng_aes_ni_request,
                                     .short_len = DRNG_AES_NI_SHORT};
const struct drng_aes drng_aes_vaes256 = {.name = "VAES-256",
                                          .fuses = true,
                                          .ctr = drng_aes_vaes256_ctr,
                                          .cbc = drng_aes_ni_cbc,
                                          .request = drng_aes_vaes_request,
                                          .short_len = DRNG_AES_VAES_SHORT};
const struct drng_aes drng_aes_vaes512 = {.name = "VAES-512",
                                          .fuses = true,
                                          .ctr = drng_aes_vaes512_ctr,
                                          .cbc = drng_aes_ni_cbc,
                                          .request = drng_aes_vaes_request,
                                          .short_len = DRNG_AES_VAES_SHORT};

size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS])
{
    size_t count = 0;
    all[count++] = &drng_aes_portable;
    if (cpu->aes) {
        all[count++] = &drng_aes_ni;
    }
    if (cpu->vaes256) {
        all[count++] = &drng_aes_vaes256;
    }
    if (cpu->vaes512) {
        all[count++] = &drng_aes_vaes512;
    }
    return count;
}
