/* The rows of the instructions of 64-bit Arm. */

#include "mixing/machine/claim_rows.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instruction.h"
#include "mixing/machine/instructions_arm.h"

/* The manual promises a word of 0 with a failure; older ones left it unknown. */
static bool drng_cpu_rndr(uint64_t *word)
{
    uint64_t value;
    const bool done = drng_execute_rndr(&value);
    *word = done ? value : 0;
    return done;
}

static bool drng_cpu_rndrrs(uint64_t *word)
{
    uint64_t value;
    const bool done = drng_execute_rndrrs(&value);
    *word = done ? value : 0;
    return done;
}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RNDRRS] = {.name = "RNDRRS",
                     .read = drng_cpu_rndrrs,
                     .tries = DRNG_STARVING_TRIES,
                     .starves = true,
                     .window_words = DRNG_RDSEED_WORDS,
                     .window_bits = DRNG_WINDOW_BITS},
    [DRNG_RNDR] = {.name = "RNDR",
                   .read = drng_cpu_rndr,
                   .tries = DRNG_RDRAND_TRIES,
                   .window_words = DRNG_RDRAND_WORDS},
};

const struct drng_claim drng_claims[] = {
    {.instruction = DRNG_RNDRRS,
     .maker = "every maker",
     .says = "fresh full entropy: a DRBG, reseeded before each word, that should conform to SP 800-90A and 90B",
     .document = "Arm Architecture Reference Manual, DDI 0487, D24.2"},
    {.instruction = DRNG_RNDR,
     .maker = "every maker",
     .says = "the same DRBG, reseeded at a rate that is not published",
     .document = "Arm Architecture Reference Manual, DDI 0487, D24.2"},
    {.maker = NULL},
};

/* None is known to give words that are not random. */
const struct drng_broken_part drng_broken_parts[] = {{.vendor = NULL}};
