/* Where there are no such instructions: everything but x86-64. */

#include <string.h>

#include "mixing/machine/cpu.h"

void drng_cpu_identify(struct drng_cpu *cpu)
{
    memset(cpu, 0, sizeof(*cpu));
}

bool drng_cpu_rdrand(uint64_t *word)
{
    *word = 0;
    return false;
}

bool drng_cpu_rdseed(uint64_t *word)
{
    *word = 0;
    return false;
}

void drng_cpu_clear_vectors(void) {}
