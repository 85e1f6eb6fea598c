/*
 * What the processor is; 64-bit Arm. The registers that say it are closed to programs: the kernel says what it knows
 * and allows in the auxiliary vector.
 */

#include "mixing/machine/cpu.h"

#include <string.h>
#include <sys/auxv.h>

/* Linux, arch/arm64/include/uapi/asm/hwcap.h; C libraries' headers may be older. */
static const unsigned long hwcap_aes = 1UL << 3;
static const unsigned long hwcap2_rng = 1UL << 16;

void drng_cpu_identify(struct drng_cpu *cpu)
{
    memset(cpu, 0, sizeof(*cpu));
    const bool rng = (getauxval(AT_HWCAP2) & hwcap2_rng) != 0;
    cpu->has[DRNG_RNDRRS] = rng;
    cpu->has[DRNG_RNDR] = rng;
    cpu->aes = (getauxval(AT_HWCAP) & hwcap_aes) != 0;
    cpu->hypervisor = true; /* nothing tells a program, and most of these machines are virtual */
}
