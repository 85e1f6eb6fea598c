/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work with the general registers of POWER, IBM Z and RISC-V seen around it. Vector registers are not looked at: the
 * first two clear them in drng_cpu_clear_vectors(), and nothing uses those of RISC-V.
 */

#define _GNU_SOURCE

#include <stddef.h>

#include "tests/process/below_registers.h"

#if defined(__s390x__)
#define EACH(f)   f(0) f(1) f(2) f(3) f(4) f(5)
#define CLEAR(n)  "lghi %%r" #n ",0\n\t"
#define STORE(n)  "stg %%r" #n ",8*" #n "(%0)\n\t"
#define CLOBBERED "r0", "r1", "r2", "r3", "r4", "r5"
#define ADDRESS   "a"
#define SAVED(c)  ((c)->uc_mcontext.gregs)
enum { FIRST_SAVED = 6, LAST_SAVED = 13 };
#elif defined(__powerpc64__)
#define EACH(f)   f(0) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12)
#define CLEAR(n)  "li " #n ",0\n\t"
#define STORE(n)  "std " #n ",8*" #n "(%0)\n\t"
#define CLOBBERED "r0", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12"
#define ADDRESS   "b"
#define SAVED(c)  ((c)->uc_mcontext.gp_regs)
enum { FIRST_SAVED = 14, LAST_SAVED = 31, CONDITION = 38 };
#elif defined(__riscv)
#define EACH(f)   f(5) f(6) f(7) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17)
#define CLEAR(n)  "li x" #n ",0\n\t"
#define STORE(n)  "sd x" #n ",8*" #n "(%0)\n\t"
#define CLOBBERED "x5", "x6", "x7", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17"
#define ADDRESS   "r"
#define SAVED(c)  ((c)->uc_mcontext.__gregs)
enum { FIRST_SAVED = 18, LAST_SAVED = 27 }; /* s2 to s11 */
#else
#error "write which registers a call need not preserve here"
#endif

/* `to` is not known to the compiler, which therefore keeps it where the call leaves it. */
void below_work(void (*work)(void))
{
    uint64_t *to = below_registers.general;
    __asm__ volatile("" : "+r"(to));
    __asm__ volatile(EACH(CLEAR) : : : CLOBBERED, "memory");
    work();
    __asm__ volatile(EACH(STORE) : : ADDRESS(to) : "memory");
}

void below_clear_saved_registers(ucontext_t *context)
{
    for (size_t i = FIRST_SAVED; i <= LAST_SAVED; i++) {
        SAVED(context)[i] = 0;
    }
#ifdef __powerpc64__
    context->uc_mcontext.gp_regs[CONDITION] = 0;
#endif
}
