/* The rows of POWER's instruction, one for each of its forms. */

#include "mixing/machine/claim_rows.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instruction.h"
#include "mixing/machine/instructions_power.h"

/* All ones are no word. */
static bool take(uint64_t value, uint64_t *word)
{
    const bool done = value != UINT64_MAX;
    *word = done ? value : 0;
    return done;
}

static bool drng_cpu_darn(uint64_t *word)
{
    return take(drng_execute_darn(), word);
}

static bool drng_cpu_darn_raw(uint64_t *word)
{
    return take(drng_execute_darn_raw(), word);
}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_DARN] = {.name = "DARN",
                   .read = drng_cpu_darn,
                   .tries = DRNG_STARVING_TRIES,
                   .starves = true,
                   .window_words = DRNG_RDSEED_WORDS,
                   .window_bits = DRNG_WINDOW_BITS},
    [DRNG_DARN_RAW] = {.name = "DARN-RAW",
                       .read = drng_cpu_darn_raw,
                       .tries = DRNG_STARVING_TRIES,
                       .starves = true,
                       .window_words = DRNG_RDSEED_WORDS,
                       .window_bits = DRNG_WINDOW_BITS},
};

const struct drng_claim drng_claims[] = {
    {.instruction = DRNG_DARN,
     .maker = "IBM",
     .says = "0.5 bit a bit at the least",
     .document = "Power ISA 3.0B, Book I, 3.3.9"},
    {.instruction = DRNG_DARN_RAW,
     .maker = "IBM",
     .says = "0.5 bit a bit at the least",
     .document = "Power ISA 3.0B, Book I, 3.3.9"},
    {.maker = NULL},
};

/* None is known to give words that are not random. */
const struct drng_broken_part drng_broken_parts[] = {{.vendor = NULL}};
