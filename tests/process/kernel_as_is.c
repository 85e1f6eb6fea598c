/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/process/kernel.h"

#include <stddef.h>
#include <sys/mman.h>

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

/* QEMU's user mode takes any advice, and follows none. */
bool kernel_wipes_clones(void)
{
    enum { PAGE = 1 << 16, NO_SUCH_ADVICE = -1, WIPE_ON_FORK = 18 };
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool wipes =
        page != MAP_FAILED && madvise(page, PAGE, NO_SUCH_ADVICE) != 0 && madvise(page, PAGE, WIPE_ON_FORK) == 0;
    if (page != MAP_FAILED) {
        (void)munmap(page, PAGE);
    }
    return wipes;
}
