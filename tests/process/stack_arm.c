/* SPDX-License-Identifier: Apache-2.0 */
/* What test_stack.c needs to know of 64-bit ARM. */

#include <CUnit/CUnit.h>
#include <sys/syscall.h>

#include "mixing/machine/wipe.h"
#include "tests/process/stack_machine.h"

const struct stack_wipe stack_wipes[] = {
    {drng_wipe_stack_512, 512},
    {drng_wipe_stack_1024, 1024},
    {drng_wipe_stack_2048, 2048},
};

const bool stack_sees_vectors = true;

size_t stack_wipe_count(void)
{
    return sizeof(stack_wipes) / sizeof(*stack_wipes);
}

void stack_paint_and_wipe(volatile uint8_t *lowest, void (*wipe)(void))
{
    volatile uint8_t *top;
    __asm__ volatile("mov %0, sp" : "=r"(top));
    for (volatile uint8_t *byte = lowest; byte < top; byte++) {
        *byte = 0xff;
    }
    wipe();
    __asm__ volatile("" : : : "memory"); /* else the call could leave this frame first */
}

void stack_leave_a_register(const uint8_t *secret)
{
    __asm__ volatile("ldrb w9, %0" : : "m"(*secret) : "x9");
}

void stack_leave_a_vector(const uint8_t *secret)
{
    __asm__ volatile("ldr d23, %0" : : "m"(*(const uint64_t *)secret) : "v23");
}

const bool stack_signals_with_a_secret = true;

void stack_signal_with(const uint8_t *secret, int process, int signal)
{
    register long x0 __asm__("x0") = process;
    register long x1 __asm__("x1") = signal;
    register long x8 __asm__("x8") = SYS_kill;
    __asm__ volatile("ldr x9, %3\n\t"
                     "svc #0\n\t"
                     "mov x9, xzr"
                     : "+r"(x0)
                     : "r"(x1), "r"(x8), "m"(*(const uint64_t *)secret)
                     : "x9", "memory");
    CU_ASSERT_EQUAL(x0, 0);
}
