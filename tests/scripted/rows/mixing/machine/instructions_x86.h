/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces mixing/machine/instructions_x86.h, so that the product's rows read from the scripted CPU. */

#ifndef DRNG_INSTRUCTIONS_X86_H
#define DRNG_INSTRUCTIONS_X86_H

#include "tests/scripted/cpu.h"

static inline bool drng_execute_rdrand(uint64_t *word)
{
    return scripted_execute(&scripted_rows[DRNG_RDRAND], word);
}

static inline bool drng_execute_rdseed(uint64_t *word)
{
    return scripted_execute(&scripted_rows[DRNG_RDSEED], word);
}

#endif
