/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces mixing/machine/instructions_arm.h, so that the product's rows read from the scripted CPU. */

#ifndef DRNG_INSTRUCTIONS_ARM_H
#define DRNG_INSTRUCTIONS_ARM_H

#include "tests/scripted/cpu.h"

static inline bool drng_execute_rndr(uint64_t *word)
{
    return scripted_execute(&scripted_rows[DRNG_RNDR], word);
}

static inline bool drng_execute_rndrrs(uint64_t *word)
{
    return scripted_execute(&scripted_rows[DRNG_RNDRRS], word);
}

#endif
