/* The row of IBM Z's instruction. */

#include "mixing/machine/claim_rows.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instruction.h"
#include "mixing/machine/instructions_z.h"

/* A CPU that stops early may have stored a part of the word or nothing: a failure, and the next execution starts over.
 */
static bool drng_cpu_trng(uint64_t *word)
{
    uint64_t value = 0;
    const bool done = drng_execute_trng(&value) == 0;
    *word = done ? value : 0;
    return done;
}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_TRNG] = {.name = "TRNG",
                   .read = drng_cpu_trng,
                   .tries = DRNG_STARVING_TRIES,
                   .starves = true,
                   .window_words = DRNG_RDSEED_WORDS,
                   .window_bits = DRNG_WINDOW_BITS},
};

const struct drng_claim drng_claims[] = {
    {.instruction = DRNG_TRNG,
     .maker = "IBM",
     .says = "full entropy in 32 bytes, as its Linux driver counts",
     .document = "arch/s390/crypto/prng.c of Linux"},
    {.maker = NULL},
};

/* None is known to give words that are not random. */
const struct drng_broken_part drng_broken_parts[] = {{.vendor = NULL}};
