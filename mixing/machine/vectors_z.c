/*
 * The floating point registers of IBM Z that a function need not preserve: compilers keep there what the general ones
 * have no room for. Each is a half of a vector register; a compiler that is told of machines with vectors uses those,
 * too. memcpy() goes from memory to memory.
 */

#include "mixing/machine/cpu.h"

#ifdef __VX__
void drng_cpu_clear_vectors(void)
{
    __asm__ volatile("vzero %%v0\n\tvzero %%v1\n\tvzero %%v2\n\tvzero %%v3\n\t"
                     "vzero %%v4\n\tvzero %%v5\n\tvzero %%v6\n\tvzero %%v7\n\t"
                     "vzero %%v8\n\tvzero %%v9\n\tvzero %%v10\n\tvzero %%v11\n\t"
                     "vzero %%v12\n\tvzero %%v13\n\tvzero %%v14\n\tvzero %%v15\n\t"
                     "vzero %%v16\n\tvzero %%v17\n\tvzero %%v18\n\tvzero %%v19\n\t"
                     "vzero %%v20\n\tvzero %%v21\n\tvzero %%v22\n\tvzero %%v23\n\t"
                     "vzero %%v24\n\tvzero %%v25\n\tvzero %%v26\n\tvzero %%v27\n\t"
                     "vzero %%v28\n\tvzero %%v29\n\tvzero %%v30\n\tvzero %%v31"
                     :
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
                       "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31");
}
#else
void drng_cpu_clear_vectors(void)
{
    __asm__ volatile("lzdr %%f0\n\tlzdr %%f1\n\tlzdr %%f2\n\tlzdr %%f3\n\t"
                     "lzdr %%f4\n\tlzdr %%f5\n\tlzdr %%f6\n\tlzdr %%f7"
                     :
                     :
                     : "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7");
}
#endif
