/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/scripted/os.h"

#include <string.h>

#include "mixing/state/clone.h"

uint64_t scripted_clock_ns;
void (*scripted_on_clock)(void);
bool scripted_os_ready;
uint8_t scripted_os_byte;
unsigned scripted_os_calls;
struct drng_kernel_flags scripted_kernel_flags;
struct drng_vmclock *scripted_vmclock;
unsigned scripted_waits;
uint64_t scripted_waited_ns;
bool scripted_clock_stands;

void scripted_unwatch(void)
{
    atomic_store(&drng_clone_watch.device, NULL);
}

void scripted_os_reset(void)
{
    scripted_unwatch();
    scripted_clock_ns = 1000000;
    scripted_on_clock = NULL;
    scripted_os_ready = true;
    scripted_os_byte = 0;
    scripted_os_calls = 0;
    scripted_vmclock = NULL;
    scripted_waits = 0;
    scripted_waited_ns = 0;
    scripted_clock_stands = false;
    scripted_kernel_flags.known = true;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        scripted_kernel_flags.has[i] = true;
    }
}

bool drng_os_random(uint8_t *out, size_t len)
{
    scripted_os_calls++;
    memset(out, scripted_os_ready ? scripted_os_byte : 0, len);
    return scripted_os_ready;
}

uint64_t drng_os_clock_ns(void)
{
    if (scripted_on_clock != NULL) {
        scripted_on_clock();
    }
    return scripted_clock_ns;
}

bool drng_os_wait(uint64_t ns)
{
    scripted_waits++;
    scripted_waited_ns += ns;
    scripted_clock_ns += scripted_clock_stands ? 0 : ns;
    return true;
}

struct drng_vmclock *drng_os_map_vmclock(void)
{
    return scripted_vmclock;
}

void drng_os_unmap_vmclock(struct drng_vmclock *page) {}

void drng_os_kernel_flags(struct drng_kernel_flags *flags)
{
    *flags = scripted_kernel_flags;
}
