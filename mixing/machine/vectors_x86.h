/* vectors_x86.h - the vector registers that every CPU of x86-64 has. */

#ifndef DRNG_VECTORS_X86_H
#define DRNG_VECTORS_X86_H

#define DRNG_LOW_REGISTERS                                                                                             \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",         \
        "xmm13", "xmm14", "xmm15"

/*
 * Clears the low 128 bits of the first sixteen registers: all that code for SSE uses. Where the rest is clear, too,
 * that takes less time than drng_cpu_clear_vectors(), which has to ask what registers there are.
 */
static inline void drng_cpu_clear_sse(void)
{
    __asm__ volatile("pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\t"
                     "pxor %%xmm2, %%xmm2\n\tpxor %%xmm3, %%xmm3\n\t"
                     "pxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"
                     "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\t"
                     "pxor %%xmm8, %%xmm8\n\tpxor %%xmm9, %%xmm9\n\t"
                     "pxor %%xmm10, %%xmm10\n\tpxor %%xmm11, %%xmm11\n\t"
                     "pxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\t"
                     "pxor %%xmm14, %%xmm14\n\tpxor %%xmm15, %%xmm15"
                     :
                     :
                     : DRNG_LOW_REGISTERS);
}

#endif
