/* SPDX-License-Identifier: Apache-2.0 */
/* What test_stack.c needs to know of POWER, IBM Z and RISC-V. */

#include "mixing/machine/wipe.h"
#include "tests/process/stack_machine.h"

#if defined(__s390x__)
#define TAKE_STACK_POINTER "lgr %0,%%r15"
#elif defined(__powerpc64__)
#define TAKE_STACK_POINTER "mr %0,1"
#else
#define TAKE_STACK_POINTER "mv %0,sp"
#endif

/* They wipe more: wipe_none.c. */
const struct stack_wipe stack_wipes[] = {
    {drng_wipe_stack_512, 512},
    {drng_wipe_stack_1024, 1024},
    {drng_wipe_stack_2048, 2048},
};

const bool stack_sees_vectors = false;

size_t stack_wipe_count(void)
{
    return sizeof(stack_wipes) / sizeof(*stack_wipes);
}

void stack_paint_and_wipe(volatile uint8_t *lowest, void (*wipe)(void))
{
    volatile uint8_t *top;
    __asm__ volatile(TAKE_STACK_POINTER : "=r"(top));
    for (volatile uint8_t *byte = lowest; byte < top; byte++) {
        *byte = 0xff;
    }
    wipe();
    __asm__ volatile("" : : : "memory"); /* else the call could leave this frame first */
}

void stack_leave_a_register(const uint8_t *secret)
{
#if defined(__s390x__)
    __asm__ volatile("llgc %%r1,%0" : : "R"(*secret) : "r1");
#elif defined(__powerpc64__)
    __asm__ volatile("lbz 9,0(%0)" : : "b"(secret) : "r9");
#else
    __asm__ volatile("lbu x17,0(%0)" : : "r"(secret) : "x17");
#endif
}

void stack_leave_a_vector(const uint8_t *secret)
{
    (void)secret;
}

const bool stack_signals_with_a_secret = false;

void stack_signal_with(const uint8_t *secret, int process, int signal)
{
    (void)secret;
    (void)process;
    (void)signal;
}
