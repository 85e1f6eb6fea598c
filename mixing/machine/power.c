/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit POWER, little-endian: what the processor is, its instruction, its vector registers. The kernel says it in the
 * auxiliary vector. */

#include "mixing/machine/cpu.h"

#include <string.h>
#include <sys/auxv.h>

#include "mixing/machine/instructions_power.h"

/* PPC_FEATURE2_DARN of Linux, arch/powerpc/include/uapi/asm/cputable.h. */
static const unsigned long hwcap2_darn = 0x00200000;

void drng_cpu_identify(struct drng_cpu *cpu)
{
    memset(cpu, 0, sizeof(*cpu));
    cpu->has[DRNG_DARN] = (getauxval(AT_HWCAP2) & hwcap2_darn) != 0;
    cpu->hypervisor = true; /* nothing tells a program, and most of these machines are virtual */
}

/* All ones are no word. */
static bool read_darn(uint64_t *word)
{
    *word = drng_execute_darn();
    return *word != UINT64_MAX;
}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_DARN] = {.name = "DARN", .read = read_darn, DRNG_SEED_GRADE},
};

/* None is known to give words that are not random. */
const struct drng_broken_part drng_broken_parts[] = {{.vendor = NULL}};

/*
 * The vector registers of POWER that a function need not preserve: VSX's 0 to 13, which are the floating point ones,
 * and 32 to 51, which are AltiVec's 0 to 19. A function that used others has put back what its caller had there.
 */
void drng_cpu_clear_vectors(void)
{
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,"
                     "32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51\n\t"
                     "xxlxor \\n, \\n, \\n\n\t"
                     ".endr"
                     :
                     :
                     : "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", "fr12",
                       "fr13", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
                       "v14", "v15", "v16", "v17", "v18", "v19");
}
