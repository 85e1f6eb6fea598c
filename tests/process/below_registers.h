/* SPDX-License-Identifier: Apache-2.0 */
/* below_registers.h - what below.c needs to know of the processor: below_x86.c, below_arm.c, below_none.c. */

#ifndef TEST_BELOW_REGISTERS_H
#define TEST_BELOW_REGISTERS_H

#include <ucontext.h>

#include "tests/process/below.h"

/*
 * Clears the registers that a call need not preserve, so that what is in them afterwards comes of the work; does the
 * work; and takes them into below_registers.
 */
void below_work(void (*work)(void));

/*
 * Clears the others in a context that is about to start. What is called there saves them on its stack, and what they
 * hold is the test's, and not the same in each run.
 */
void below_clear_saved_registers(ucontext_t *context);

#endif
