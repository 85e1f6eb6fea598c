/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions_x86.h - the only file that executes RDRAND and RDSEED.
 *
 * In asm, because the compiler's intrinsics store each word to memory; these leave it in a register. And what clears
 * the registers that every CPU of x86-64 has.
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Both return whether the carry flag was set. If it was not, *word is what the CPU left in the register. */
static inline bool drng_execute_rdrand(uint64_t *word)
{
    bool carry;
    __asm__ volatile("rdrand %0" : "=r"(*word), "=@ccc"(carry));
    return carry;
}

static inline bool drng_execute_rdseed(uint64_t *word)
{
    bool carry;
    __asm__ volatile("rdseed %0" : "=r"(*word), "=@ccc"(carry));
    return carry;
}

#define DRNG_LOW_REGISTERS                                                                                             \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",         \
        "xmm13", "xmm14", "xmm15"

/*
 * Clears the low 128 bits of the first sixteen registers, or all that AVX has of them: all that code for SSE or for
 * registers of 128 bits uses. That takes less time than drng_cpu_clear_vectors(), which has to ask what registers there
 * are, and than VZEROALL.
 */
static inline void drng_cpu_clear_sse(void)
{
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\tpxor %%xmm\\n, %%xmm\\n\n\t.endr"
                     :
                     :
                     : DRNG_LOW_REGISTERS);
}

static inline void drng_cpu_clear_avx(void)
{
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\tvpxor %%xmm\\n, %%xmm\\n, %%xmm\\n\n\t.endr"
                     :
                     :
                     : DRNG_LOW_REGISTERS);
}
