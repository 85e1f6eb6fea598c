#include "mixing/machine/instruction.h"

#include "mixing/machine/cpu.h"

#define FLAG(id, flag) [id] = flag,
const char *const drng_instruction_flags[DRNG_INSTRUCTIONS] = {DRNG_EACH_INSTRUCTION(FLAG)};
#undef FLAG

enum { RDSEED_TRIES = 8 }; /* between two looks at the clock */

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RDSEED] = {.name = "RDSEED",
                     .read = drng_cpu_rdseed,
                     .tries = RDSEED_TRIES,
                     .starves = true,
                     .window_words = DRNG_RDSEED_WORDS},
    [DRNG_RDRAND] = {.name = "RDRAND",
                     .read = drng_cpu_rdrand,
                     .tries = DRNG_RDRAND_TRIES,
                     .fused = true,
                     .window_words = DRNG_RDRAND_WORDS},
};
