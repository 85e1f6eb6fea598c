#include "tests/process/kernel.h"

bool kernel_prepare(void)
{
    return true;
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
