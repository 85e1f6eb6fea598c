/*
 * What the processor is; 64-bit ARM. The registers that say it are closed to programs: the kernel says what it knows
 * and allows in the auxiliary vector.
 */

#include "mixing/machine/cpu.h"

#include <string.h>
#include <sys/auxv.h>

#include "mixing/machine/instruction.h"

/* Linux, arch/arm64/include/uapi/asm/hwcap.h; C libraries' headers may be older. */
static const unsigned long hwcap_aes = 1UL << 3;

void drng_cpu_identify(struct drng_cpu *cpu)
{
    memset(cpu, 0, sizeof(*cpu));
    cpu->aes = (getauxval(AT_HWCAP) & hwcap_aes) != 0;
}

static bool read_nothing(uint64_t *word)
{
    *word = 0;
    return false;
}

/* As in cpu_none.c. */
const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RDSEED] = {.name = "RDSEED", .read = read_nothing, .tries = 1, .window_words = DRNG_RDSEED_WORDS},
    [DRNG_RDRAND] = {.name = "RDRAND", .read = read_nothing, .tries = 1, .window_words = DRNG_RDRAND_WORDS},
};
