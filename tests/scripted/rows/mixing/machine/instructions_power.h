/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces mixing/machine/instructions_power.h, so that the product's rows read from the scripted CPU. */

#ifndef DRNG_INSTRUCTIONS_POWER_H
#define DRNG_INSTRUCTIONS_POWER_H

#include "tests/scripted/cpu.h"

/* All ones: no word. */
static inline uint64_t drng_execute_darn(void)
{
    uint64_t word = 0;
    return scripted_execute(&scripted_rows[DRNG_DARN], &word) ? word : UINT64_MAX;
}

#endif
