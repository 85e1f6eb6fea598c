/* SPDX-License-Identifier: Apache-2.0 */
/* Work with the registers of 64-bit ARM seen around it. */

#define _GNU_SOURCE

#include <stddef.h>

#include "tests/process/below_registers.h"

#define EACH_VECTOR(f)                                                                                                 \
    f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19)      \
        f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)
#define CLEAR(n) "movi v" #n ".2d, #0\n\t"
#define STORE(n) "str q" #n ", [%0, #16*" #n "]\n\t"
#define GENERAL                                                                                                        \
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17"
#define VECTORS                                                                                                        \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",       \
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"

void below_work(void (*work)(void))
{
    register void (*function)(void) __asm__("x19") = work;
    register uint64_t *general __asm__("x20") = below_registers.general;
    register uint8_t *vectors __asm__("x21") = below_registers.vectors;
    __asm__ volatile(EACH_VECTOR(CLEAR) "mov x0, xzr\n\tmov x1, xzr\n\tmov x2, xzr\n\tmov x3, xzr\n\t"
                                        "mov x4, xzr\n\tmov x5, xzr\n\tmov x6, xzr\n\tmov x7, xzr\n\t"
                                        "mov x8, xzr\n\tmov x9, xzr\n\tmov x10, xzr\n\tmov x11, xzr\n\t"
                                        "mov x12, xzr\n\tmov x13, xzr\n\tmov x14, xzr\n\tmov x15, xzr\n\t"
                                        "mov x16, xzr\n\tmov x17, xzr\n\t"
                                        "blr %2\n\t"
                                        "stp x0, x1, [%1]\n\tstp x2, x3, [%1, #16]\n\tstp x4, x5, [%1, #32]\n\t"
                                        "stp x6, x7, [%1, #48]\n\tstp x8, x9, [%1, #64]\n\t"
                                        "stp x10, x11, [%1, #80]\n\tstp x12, x13, [%1, #96]\n\t"
                                        "stp x14, x15, [%1, #112]\n\tstp x16, x17, [%1, #128]\n\t" EACH_VECTOR(STORE)
                     :
                     : "r"(vectors), "r"(general), "r"(function)
                     : GENERAL, VECTORS, "x30", "cc", "memory");
}

void below_clear_saved_registers(ucontext_t *context)
{
    enum { FIRST = 19, LAST = 28 };
    for (size_t i = FIRST; i <= LAST; i++) {
        context->uc_mcontext.regs[i] = 0;
    }
}
