/* SPDX-License-Identifier: Apache-2.0 */
/* Work with the registers of x86-64 seen around it. */

#define _GNU_SOURCE

#include <stdbool.h>
#include <string.h>

#include "tests/process/below_registers.h"

/* No call on the way here, and no register taken for an address. */
static inline __attribute__((always_inline)) void take_general_registers(void)
{
    uint64_t *to = below_registers.general;
    __asm__ volatile("mov %%rax, %0\n\tmov %%rcx, %1\n\tmov %%rdx, %2\n\tmov %%rsi, %3\n\tmov %%rdi, %4\n\t"
                     "mov %%r8, %5\n\tmov %%r9, %6\n\tmov %%r10, %7\n\tmov %%r11, %8"
                     : "=m"(to[0]), "=m"(to[1]), "=m"(to[2]), "=m"(to[3]), "=m"(to[4]), "=m"(to[5]), "=m"(to[6]),
                       "=m"(to[7]), "=m"(to[8]));
}

enum {
    SSE_AVX_AVX512 = 0xe6, /* what of the registers XSAVE takes */
    MXCSR_AT = 24,
    HEADER_AT = 512,
    HEADER_LEN = 64,
};

/* So that what is in them afterwards comes of the work. */
static inline __attribute__((always_inline)) void clear_registers(bool saved)
{
    static _Alignas(64) uint8_t cleared[sizeof(below_registers.vectors)];
    memcpy(cleared + MXCSR_AT, &(uint32_t){0x1f80}, sizeof(uint32_t));
    if (saved) {
        __asm__ volatile("xrstor64 %0" : : "m"(cleared), "a"(SSE_AVX_AVX512), "d"(0) : "memory");
    }
    __asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx\n\txor %%esi, %%esi\n\t"
                     "xor %%edi, %%edi\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\t"
                     "xor %%r11d, %%r11d"
                     :
                     :
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}

static inline __attribute__((always_inline)) void take_vector_registers(bool saved)
{
    if (saved) {
        __asm__ volatile("xsave64 %0" : "+m"(below_registers.vectors) : "a"(SSE_AVX_AVX512), "d"(0) : "memory");
        /* It says which registers are in use, and a switch to another process may change that: on AMD it does. */
        memset(below_registers.vectors + HEADER_AT, 0, HEADER_LEN);
    }
}

void below_work(void (*work)(void))
{
    const bool has_avx = __builtin_cpu_supports("avx");
    clear_registers(has_avx);
    work();
    take_general_registers();
    take_vector_registers(has_avx);
}

/* Registers that what is called there saves on its stack: what they hold is the test's, and not the same in each run.
 */
void below_clear_saved_registers(ucontext_t *context)
{
    static const int saved[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15};
    for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++) {
        context->uc_mcontext.gregs[saved[i]] = 0;
    }
}
