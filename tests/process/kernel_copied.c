/* SPDX-License-Identifier: Apache-2.0 */
/* Children stand for copies of the machine: nothing in them is wiped, and only the clock device tells. */

#include "tests/process/device.h"
#include "tests/process/kernel.h"
#include "tests/process/step.h"

bool kernel_before_load(void)
{
    return device_plug_in();
}

bool kernel_prepare(void)
{
    size_t size = 0;
    void *page = device_page(&size);
    return kernel_keep_on_fork() && step_watch_also(page, size);
}

void kernel_born(void)
{
    device_tell();
}

bool kernel_copies(void)
{
    return true;
}

bool kernel_wipes_clones(void)
{
    return false;
}
