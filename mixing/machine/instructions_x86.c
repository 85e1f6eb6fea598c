/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the instructions of x86-64. */

#include "mixing/machine/instructions_x86.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instruction.h"

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RDSEED] = {.name = "RDSEED", .read = drng_execute_rdseed, .mask_bit = 64 + 18, DRNG_SEED_GRADE},
    [DRNG_RDRAND] = {.name = "RDRAND",
                     .read = drng_execute_rdrand,
                     .mask_bit = 62,
                     .tries = DRNG_RDRAND_TRIES,
                     .fused = true,
                     .window_words = DRNG_RDRAND_WORDS,
                     .window_bits = DRNG_WINDOW_BITS},
};

const struct drng_broken_part drng_broken_parts[] = {
    /* RDRAND constant after suspend, CF = 1 (families 15h and 16h; no older family is known to be good). */
    {"AuthenticAMD", 0x00, 0x16, 0x00, 0xff, {[DRNG_RDRAND] = true, [DRNG_RDSEED] = true}, false},
    /* RDSEED always 0xffffffff ("Cyan Skillfish"). */
    {"AuthenticAMD", 0x17, 0x17, 0x47, 0x47, {[DRNG_RDSEED] = true}, false},
    /* RDRAND all ones, CF = 1, before a firmware fix that software cannot detect (systemd issue 11810). */
    {"AuthenticAMD", 0x17, 0x17, 0x70, 0x7f, {[DRNG_RDRAND] = true}, false},
    /*
     * Zen 5 (AMD-SB-7055): the kernel knows which microcode mends RDSEED, and clears its flag where none does. In a
     * guest CPUID may show it all the same. Models by what Linux calls Zen 5; others of this family are Zen 6.
     */
    {"AuthenticAMD", 0x1a, 0x1a, 0x00, 0x2f, {[DRNG_RDSEED] = true}, .kernel_decides = true},
    {"AuthenticAMD", 0x1a, 0x1a, 0x40, 0x4f, {[DRNG_RDSEED] = true}, .kernel_decides = true},
    {"AuthenticAMD", 0x1a, 0x1a, 0x60, 0x7f, {[DRNG_RDSEED] = true}, .kernel_decides = true},
    {"AuthenticAMD", 0x1a, 0x1a, 0xd0, 0xd7, {[DRNG_RDSEED] = true}, .kernel_decides = true},
    {.vendor = NULL},
};
