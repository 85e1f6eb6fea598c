/* SPDX-License-Identifier: Apache-2.0 */
/* stack_machine.h - what test_stack.c needs to know of the processor: stack_x86.c, stack_arm.c, stack_none.c. */

#ifndef TEST_STACK_MACHINE_H
#define TEST_STACK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of wipe.h, or the processor's own, and how much it wipes below the return address of its call. */
struct stack_wipe {
    void (*wipe)(void);
    size_t bytes;
};

extern const struct stack_wipe stack_wipes[];
size_t stack_wipe_count(void); /* of those that this CPU can run */

/* Sets every byte from `lowest` to its own frame to 0xff, without a call, and then calls wipe(). */
void stack_paint_and_wipe(volatile uint8_t *lowest, void (*wipe)(void));

/* Whether below_registers has the vector registers, too. */
extern const bool stack_sees_vectors;

/* Leave something of a secret in a register that a call need not preserve. */
void stack_leave_a_register(const uint8_t *secret);
void stack_leave_a_vector(const uint8_t *secret);

/* Sends this process a signal while a register, and nothing else, holds eight bytes of a secret. */
void stack_signal_with(const uint8_t *secret, int process, int signal);
extern const bool stack_signals_with_a_secret; /* false where it sends none */

#endif
