/* The rows of the instructions of x86-64. */

#include "mixing/machine/cpu.h"
#include "mixing/machine/instruction.h"
#include "mixing/machine/instructions_x86.h"

static bool drng_cpu_rdrand(uint64_t *word)
{
    uint64_t value;
    const bool carry = drng_execute_rdrand(&value);
    *word = carry ? value : 0;
    return carry;
}

static bool drng_cpu_rdseed(uint64_t *word)
{
    uint64_t value;
    const bool carry = drng_execute_rdseed(&value);
    *word = carry ? value : 0;
    return carry;
}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RDSEED] = {.name = "RDSEED",
                     .read = drng_cpu_rdseed,
                     .tries = DRNG_STARVING_TRIES,
                     .starves = true,
                     .window_words = DRNG_RDSEED_WORDS},
    [DRNG_RDRAND] = {.name = "RDRAND",
                     .read = drng_cpu_rdrand,
                     .tries = DRNG_RDRAND_TRIES,
                     .fused = true,
                     .window_words = DRNG_RDRAND_WORDS},
};

const struct drng_broken_part drng_broken_parts[] = {
    /* RDRAND constant after suspend, CF = 1 (families 15h and 16h; no older family is known to be good). */
    {"AuthenticAMD", 0x00, 0x16, 0x00, 0xff, {[DRNG_RDRAND] = true, [DRNG_RDSEED] = true}},
    /* RDSEED always 0xffffffff ("Cyan Skillfish"). */
    {"AuthenticAMD", 0x17, 0x17, 0x47, 0x47, {[DRNG_RDSEED] = true}},
    /* RDRAND all ones, CF = 1, before a firmware fix that software cannot detect (systemd issue 11810). */
    {"AuthenticAMD", 0x17, 0x17, 0x70, 0x7f, {[DRNG_RDRAND] = true}},
    {.vendor = NULL},
};
