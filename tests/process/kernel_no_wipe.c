/* SPDX-License-Identifier: Apache-2.0 */
#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "tests/process/kernel.h"

/*
 * Where the kernel does not wipe from the start, every request takes in a word. Later, none may: then it is the handler
 * of fork() alone that parts a child from its parent.
 */
bool kernel_before_load(void)
{
#ifdef NO_WIPE_FROM_THE_START
    (void)drng_fork_open();
    drng_fork_kernel_wipes = false;
    return kernel_keep_on_fork();
#else
    return true;
#endif
}

bool kernel_prepare(void)
{
    drng_fork_kernel_wipes = false;
    return kernel_keep_on_fork();
}

void kernel_born(void) {}

bool kernel_copies(void)
{
    return false;
}

bool kernel_wipes_clones(void)
{
    return false;
}
