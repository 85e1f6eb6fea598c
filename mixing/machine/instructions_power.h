/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions_power.h - the only file that executes darn.
 *
 * As a number, since assemblers for POWER8, which drng is built for, do not know it.
 */

#ifndef DRNG_INSTRUCTIONS_POWER_H
#define DRNG_INSTRUCTIONS_POWER_H

#include <stdint.h>

/* darn r3, 1: conditioned. Returns what came: a word, or all ones. */
static inline uint64_t drng_execute_darn(void)
{
    register uint64_t r3 __asm__("r3");
    __asm__ volatile(".long 0x7c6105e6" : "=r"(r3));
    return r3;
}

#endif
