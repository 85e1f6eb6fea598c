/*
 * instructions_x86.h - the one file that executes RDRAND and RDSEED.
 *
 * As asm and not by the compiler's intrinsics: those store each word to memory, and these leave it in a register.
 */

#ifndef DRNG_INSTRUCTIONS_X86_H
#define DRNG_INSTRUCTIONS_X86_H

#include <stdbool.h>
#include <stdint.h>

/* Both: whether the carry flag was set. Without it *word is what the CPU left there. */
static inline bool drng_execute_rdrand(uint64_t *word)
{
    bool carry;
    __asm__ volatile("rdrand %0" : "=r"(*word), "=@ccc"(carry));
    return carry;
}

static inline bool drng_execute_rdseed(uint64_t *word)
{
    bool carry;
    __asm__ volatile("rdseed %0" : "=r"(*word), "=@ccc"(carry));
    return carry;
}

#endif
