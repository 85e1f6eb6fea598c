/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU where programs have no such instruction: its row, which nothing reads. rows.h says why. */

#include "mixing/machine/cpu.h"

void drng_cpu_identify(struct drng_cpu *cpu)
{
    *cpu = (struct drng_cpu){0}; /* no guest: there is no word to part its copies by */
}

/* Registers of a processor that is not known here stay as they are. */
void drng_cpu_clear_vectors(void) {}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_NONE] = {.name = "none", .seed_grade = true, .window_words = DRNG_RDSEED_WORDS}, /* as RISC-V's would be */
};

const struct drng_broken_part drng_broken_parts[] = {{.vendor = NULL}};
