/*
 * The vector registers of POWER that a function need not preserve: VSX's 0 to 13, which are the floating point ones,
 * and 32 to 51, which are AltiVec's 0 to 19. A function that used others has put back what its caller had there.
 */

#include "mixing/machine/cpu.h"

void drng_cpu_clear_vectors(void)
{
    __asm__ volatile("xxlxor 0, 0, 0\n\txxlxor 1, 1, 1\n\txxlxor 2, 2, 2\n\txxlxor 3, 3, 3\n\t"
                     "xxlxor 4, 4, 4\n\txxlxor 5, 5, 5\n\txxlxor 6, 6, 6\n\txxlxor 7, 7, 7\n\t"
                     "xxlxor 8, 8, 8\n\txxlxor 9, 9, 9\n\txxlxor 10, 10, 10\n\txxlxor 11, 11, 11\n\t"
                     "xxlxor 12, 12, 12\n\txxlxor 13, 13, 13\n\txxlxor 32, 32, 32\n\txxlxor 33, 33, 33\n\t"
                     "xxlxor 34, 34, 34\n\txxlxor 35, 35, 35\n\txxlxor 36, 36, 36\n\txxlxor 37, 37, 37\n\t"
                     "xxlxor 38, 38, 38\n\txxlxor 39, 39, 39\n\txxlxor 40, 40, 40\n\txxlxor 41, 41, 41\n\t"
                     "xxlxor 42, 42, 42\n\txxlxor 43, 43, 43\n\txxlxor 44, 44, 44\n\txxlxor 45, 45, 45\n\t"
                     "xxlxor 46, 46, 46\n\txxlxor 47, 47, 47\n\txxlxor 48, 48, 48\n\txxlxor 49, 49, 49\n\t"
                     "xxlxor 50, 50, 50\n\txxlxor 51, 51, 51"
                     :
                     :
                     : "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", "fr12",
                       "fr13", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
                       "v14", "v15", "v16", "v17", "v18", "v19");
}
