/* SPDX-License-Identifier: Apache-2.0 */
/* What test_stack.c needs to know of x86-64. */

#include <CUnit/CUnit.h>
#include <sys/syscall.h>

#include "mixing/aes/aes_x86.h"
#include "mixing/machine/wipe.h"
#include "tests/process/stack_machine.h"

const struct stack_wipe stack_wipes[] = {
    {drng_wipe_stack_256, 256 - sizeof(void *)},     {drng_wipe_stack_512, 512 - sizeof(void *)},
    {drng_wipe_stack_1024, 1024 - sizeof(void *)},   {drng_wipe_stack_2048, 2048 - sizeof(void *)},
    {drng_wipe_stack_512_avx, 512 - sizeof(void *)}, {drng_wipe_stack_1536_avx, 1536 - sizeof(void *)},
};

const bool stack_sees_vectors = true;

size_t stack_wipe_count(void)
{
    return sizeof(stack_wipes) / sizeof(*stack_wipes) - (__builtin_cpu_supports("avx") ? 0 : 2);
}

void stack_paint_and_wipe(volatile uint8_t *lowest, void (*wipe)(void))
{
    volatile uint8_t *top;
    __asm__ volatile("mov %%rsp, %0" : "=r"(top));
    for (volatile uint8_t *byte = lowest; byte < top; byte++) {
        *byte = 0xff;
    }
    wipe();
    __asm__ volatile("" : : : "memory"); /* else the call could leave this frame first */
}

void stack_leave_a_register(const uint8_t *secret)
{
    __asm__ volatile("movzbl %0, %%r9d" : : "m"(*secret) : "r9");
}

void stack_leave_a_vector(const uint8_t *secret)
{
    __asm__ volatile("movq %0, %%xmm9" : : "m"(*(const uint64_t *)secret) : "xmm9");
}

const bool stack_signals_with_a_secret = true;

void stack_signal_with(const uint8_t *secret, int process, int signal)
{
    long result = SYS_kill;
    __asm__ volatile("movq %3, %%r9\n\t"
                     "syscall\n\t"
                     "xorl %%r9d, %%r9d"
                     : "+a"(result)
                     : "D"((long)process), "S"((long)signal), "m"(*(const uint64_t *)secret)
                     : "rcx", "r9", "r11", "cc", "memory");
    CU_ASSERT_EQUAL(result, 0);
}
