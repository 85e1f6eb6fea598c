#include "mixing/secmem.h"
#include "tests/process/kernel.h"

bool kernel_prepare(void)
{
    drng_secmem_kernel_wipes = false;
    return kernel_keep_on_fork();
}
