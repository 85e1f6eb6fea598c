/* The CPU on everything but x86-64, where none of these instructions exist. */

#include "mixing/machine/cpu.h"
#include "mixing/machine/instruction.h"

void drng_cpu_identify(struct drng_cpu *cpu)
{
    *cpu = (struct drng_cpu){.hypervisor = true};
}

static bool read_nothing(uint64_t *word)
{
    *word = 0;
    return false;
}

/*
 * Never read, since drng_cpu_identify() reports no instruction. The rows are here so that `source = rdrand` is reported
 * as an absent instruction, and not as a wrong value.
 */
const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RDSEED] = {.name = "RDSEED", .read = read_nothing, .tries = 1, .window_words = DRNG_RDSEED_WORDS},
    [DRNG_RDRAND] = {.name = "RDRAND", .read = read_nothing, .tries = 1, .window_words = DRNG_RDRAND_WORDS},
};

void drng_cpu_clear_vectors(void) {}
