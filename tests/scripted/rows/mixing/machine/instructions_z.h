/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces mixing/machine/instructions_z.h, so that the product's rows read from the scripted CPU. */

#ifndef DRNG_INSTRUCTIONS_Z_H
#define DRNG_INSTRUCTIONS_Z_H

#include "tests/scripted/cpu.h"

enum { DRNG_PRNO_TRNG = 114 };

static inline void drng_execute_prno_query(uint8_t functions[16]) {}

/* Condition code 3, and a part of a word: the CPU has stopped early. */
static inline unsigned drng_execute_trng(uint64_t *word)
{
    const bool whole = scripted_execute(&scripted_rows[DRNG_TRNG], word);
    *word = whole ? *word : 0x5a5a;
    return whole ? 0 : 3;
}

#endif
