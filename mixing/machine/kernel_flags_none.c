/* Where the auxiliary vector is the kernel's word on the instructions, /proc/cpuinfo adds nothing to it. */

#include "mixing/machine/os.h"

void drng_os_kernel_flags(struct drng_kernel_flags *flags)
{
    *flags = (struct drng_kernel_flags){0};
}
