/* below.h - work on a stack of its own, which can be looked at afterwards. */

#ifndef TEST_BELOW_H
#define TEST_BELOW_H

#include <stddef.h>
#include <stdint.h>

enum { BELOW_LEN = 1 << 16 };

/* The registers that a call need not preserve, as they were when the work had returned. */
struct below_registers {
    uint64_t general[9];
    _Alignas(64) uint8_t vectors[4096]; /* XSAVE: all zero where the CPU or the system has none */
};

extern struct below_registers below_registers;

/* All zero before each run, so that what is not zero after it was left there. Its top is the end. */
extern uint8_t below_stack[BELOW_LEN];

/*
 * Runs work on that stack and comes back to the caller's. What work calls has its frame at a distance from the top, so
 * that nothing on the way back is written over what is looked for.
 */
void below_run(void (*work)(void));

#endif
