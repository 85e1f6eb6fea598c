/*
 * instructions_power.h - the only file that executes darn.
 *
 * As numbers, since assemblers for POWER8, which drng is built for, do not know it. Both return whether there is a
 * word: all ones say that there is none.
 */

#ifndef DRNG_INSTRUCTIONS_POWER_H
#define DRNG_INSTRUCTIONS_POWER_H

#include <stdbool.h>
#include <stdint.h>

/* darn r3, 1: conditioned. */
static inline bool drng_execute_darn(uint64_t *word)
{
    register uint64_t r3 __asm__("r3");
    __asm__ volatile(".long 0x7c6105e6" : "=r"(r3));
    *word = r3;
    return r3 != UINT64_MAX;
}

/* darn r3, 2: raw. */
static inline bool drng_execute_darn_raw(uint64_t *word)
{
    register uint64_t r3 __asm__("r3");
    __asm__ volatile(".long 0x7c6205e6" : "=r"(r3));
    *word = r3;
    return r3 != UINT64_MAX;
}

#endif
