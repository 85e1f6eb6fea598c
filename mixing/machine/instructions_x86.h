/*
 * instructions_x86.h - the only file that executes RDRAND and RDSEED.
 *
 * In asm, because the compiler's intrinsics store each word to memory; these leave it in a register.
 */

#ifndef DRNG_INSTRUCTIONS_X86_H
#define DRNG_INSTRUCTIONS_X86_H

#include <stdbool.h>
#include <stdint.h>

/* Both return whether the carry flag was set. If it was not, *word is what the CPU left in the register. */
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
