/* Which implementations of AES a CPU can run; x86-64. */

#include "mixing/aes/aes.h"

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
