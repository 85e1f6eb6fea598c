/*
 * The floating point registers of IBM Z that a function need not preserve: compilers keep there what the general ones
 * have no room for. The vector registers, of which they are a part, are not used: drng is built for machines that have
 * none, and memcpy() goes from memory to memory.
 */

#include "mixing/machine/cpu.h"

void drng_cpu_clear_vectors(void)
{
    __asm__ volatile("lzdr %%f0\n\tlzdr %%f1\n\tlzdr %%f2\n\tlzdr %%f3\n\t"
                     "lzdr %%f4\n\tlzdr %%f5\n\tlzdr %%f6\n\tlzdr %%f7"
                     :
                     :
                     : "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7");
}
