#include "tests/process/kernel.h"

bool kernel_prepare(void)
{
    return true;
}
