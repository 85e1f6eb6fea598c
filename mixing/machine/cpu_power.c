/* What the processor is; 64-bit POWER, little-endian. The kernel says it in the auxiliary vector. */

#include "mixing/machine/cpu.h"

#include <string.h>
#include <sys/auxv.h>

/* PPC_FEATURE2_DARN of Linux, arch/powerpc/include/uapi/asm/cputable.h. */
static const unsigned long hwcap2_darn = 0x00200000;

void drng_cpu_identify(struct drng_cpu *cpu)
{
    memset(cpu, 0, sizeof(*cpu));
    const bool darn = (getauxval(AT_HWCAP2) & hwcap2_darn) != 0;
    cpu->has[DRNG_DARN] = darn;
    cpu->has[DRNG_DARN_RAW] = darn;
    cpu->hypervisor = true; /* nothing tells a program, and most of these machines are virtual */
}
