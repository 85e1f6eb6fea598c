/* SPDX-License-Identifier: Apache-2.0 */
/* below.h - runs work on a separate stack, which can be inspected afterwards. */

#ifndef TEST_BELOW_H
#define TEST_BELOW_H

#include <stddef.h>
#include <stdint.h>

enum {
    BELOW_LEN = 1 << 16,
    BELOW_WAY_BACK = 1 << 10, /* bytes at its end that entering and leaving it may write, and the work does not */
};

/* The registers that a call need not preserve, as the work left them. */
struct below_registers {
    uint64_t general[32]; /* as many as there are, and zeros */
    _Alignas(
        64) uint8_t vectors[4096]; /* XSAVE, or ARM's one after the other; zeros where the CPU or the system has none */
};

extern struct below_registers below_registers;

/* All zero before each run, so every other byte after it was left by the work. The stack grows down from the end. */
extern uint8_t below_stack[BELOW_LEN];

/*
 * Runs work on that stack and returns to the caller's. The frames of the work start at a distance from the end, so that
 * the return does not overwrite what is searched.
 */
void below_run(void (*work)(void));

#endif
