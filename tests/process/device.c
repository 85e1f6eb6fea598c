/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE

#include "tests/process/device.h"

#include <endian.h>
#include <sys/mman.h>

#include "mixing/machine/os.h"
#include "mixing/state/fork.h"

static struct drng_vmclock *page;

void (*device_looked_for)(void);

struct drng_vmclock *__wrap_drng_os_map_vmclock(void)
{
    void (*const comes)(void) = device_looked_for;
    device_looked_for = NULL;
    if (comes != NULL) {
        comes();
    }
    return page;
}

void __wrap_drng_os_unmap_vmclock(struct drng_vmclock *mapped) {}

bool device_plug_in(void)
{
    void *memory = mmap(NULL, drng_page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    page = memory;
    page->magic = htole32(DRNG_VMCLOCK_MAGIC);
    page->size = htole32((uint32_t)drng_page_size());
    page->version = htole16(DRNG_VMCLOCK_VERSION);
    return true;
}

void device_unplug(void)
{
    atomic_store(&drng_clone_watch.device, NULL);
    (void)munmap(page, drng_page_size());
    page = NULL;
}

struct drng_vmclock *device_page(size_t *size)
{
    *size = drng_page_size();
    return page;
}

void device_tell(void)
{
    const uint32_t sequence = le32toh(atomic_load(&page->sequence));
    atomic_store(&page->sequence, htole32(sequence + 1));
    atomic_store(&page->disruption_marker, htole64(le64toh(atomic_load(&page->disruption_marker)) + 1));
    atomic_store(&page->sequence, htole32(sequence + 2));
}
