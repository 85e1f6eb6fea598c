/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit Arm: what the processor is, its instructions, its vector registers. The registers that say what it is are
 * closed to programs: the kernel says what it knows and allows in the auxiliary vector.
 */

#include "mixing/machine/cpu.h"

#include <string.h>
#include <sys/auxv.h>

#include "mixing/machine/instructions_arm.h"

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

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RNDRRS] = {.name = "RNDRRS", .read = drng_execute_rndrrs, .mask_bit = 8, DRNG_SEED_GRADE},
    [DRNG_RNDR] = {.name = "RNDR",
                   .read = drng_execute_rndr,
                   .mask_bit = 8,
                   .tries = DRNG_RDRAND_TRIES,
                   .window_words = DRNG_RDRAND_WORDS},
};

/* None is known to give words that are not random. */
const struct drng_broken_part drng_broken_parts[] = {{.vendor = NULL}};

/*
 * The vector registers of 64-bit Arm. A write to one clears what lies above its 128 bits, so memcpy() by SVE leaves
 * nothing either.
 */
void drng_cpu_clear_vectors(void)
{
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
                     "movi v\\n\\().2d, #0\n\t"
                     ".endr"
                     :
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                       "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31");
}
