/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions_arm.h - the only file that reads RNDR and RNDRRS.
 *
 * By the registers' generic names, which assemblers for plain Armv8-A know, too.
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Both return whether the flag Z is clear: NZCV is 0b0000 with a word and 0b0100 without. *word is then what came. */
static inline bool drng_execute_rndr(uint64_t *word)
{
    uint32_t done;
    __asm__ volatile("mrs %0, s3_3_c2_c4_0\n\tcset %w1, ne" : "=r"(*word), "=r"(done) : : "cc");
    return done != 0;
}

static inline bool drng_execute_rndrrs(uint64_t *word)
{
    uint32_t done;
    __asm__ volatile("mrs %0, s3_3_c2_c4_1\n\tcset %w1, ne" : "=r"(*word), "=r"(done) : : "cc");
    return done != 0;
}
