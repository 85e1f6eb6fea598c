#include "mixing/memory/fork.h"
#include "mixing/memory/secmem.h"
#include "tests/process/kernel.h"

bool kernel_prepare(void)
{
    drng_fork_kernel_wipes = false;
    return kernel_keep_on_fork();
}

bool kernel_before_load(void)
{
    return true;
}

void kernel_born(void) {}

bool kernel_copies(void)
{
    return false;
}
