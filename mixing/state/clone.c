/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the clock device of a virtual machine; a device that does not answer is given up. */

#include "mixing/state/clone.h"

#include <endian.h>

#include "mixing/machine/instruction.h"
#include "mixing/machine/os.h"

/* Looks while the hypervisor writes, of about a tenth of a microsecond each. Then the device is taken for broken. */
enum { LOOKS = 1000 };

/* Signals that may come while the kernel is waited for. Then the time is up even if the clock stands still. */
enum { WAITS = 100 };

struct drng_clone_watch drng_clone_watch;

/*
 * Whether *marker was read while the hypervisor did not write. A host that has no such device may leave a page of zeros
 * in its place.
 */
static bool read_marker(const struct drng_vmclock *device, uint64_t *marker)
{
    const uint32_t before = atomic_load_explicit(&device->sequence, memory_order_acquire);
    *marker = atomic_load_explicit(&device->disruption_marker, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&device->sequence, memory_order_relaxed) == before && (le32toh(before) & 1) == 0 &&
           le32toh(device->magic) == DRNG_VMCLOCK_MAGIC;
}

/* False: the device does not answer. */
static bool look(const struct drng_vmclock *device, uint64_t *marker)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        if (read_marker(device, marker)) {
            return true;
        }
        drng_pause();
    }
    return false;
}

/*
 * The marker comes before the device: whoever sees the device compares with it. A device that is watched stays mapped:
 * other threads may be reading, and a process that has given up its rights could not map it again.
 */
void drng_clone_open(void)
{
    uint64_t marker = 0;
    struct drng_vmclock *mapped = atomic_load(&drng_clone_watch.device) == NULL ? drng_os_map_vmclock() : NULL;
    if (mapped == NULL) {
        return;
    }
    if (le16toh(mapped->version) != DRNG_VMCLOCK_VERSION || le32toh(mapped->size) < sizeof(*mapped) ||
        !look(mapped, &marker)) {
        drng_os_unmap_vmclock(mapped);
        return;
    }
    atomic_store(&drng_clone_watch.marker, marker);
    atomic_store(&drng_clone_watch.device, mapped);
    atomic_store(&drng_fork_page->epoch, 0);
}

/*
 * Also while the hypervisor writes. Every change is counted before the marker and the device are stored: a thread that
 * sees the new marker, or no device any more, takes the count for all that there is to know. A device that does not
 * answer may have told of a copy, so it is given up as one that has.
 */
static __attribute__((noinline, cold)) uint64_t look_closely(const struct drng_vmclock *device)
{
    uint64_t marker = 0;
    const bool answers = look(device, &marker);
    if (answers && marker == atomic_load(&drng_clone_watch.marker)) {
        return atomic_load(&drng_clone_watch.count);
    }
    atomic_store(&drng_clone_watch.seen_at, drng_os_clock_ns());
    const uint64_t count = atomic_fetch_add(&drng_clone_watch.count, 1) + 1;
    if (answers) {
        atomic_store(&drng_clone_watch.marker, marker);
    } else {
        atomic_store(&drng_clone_watch.device, NULL);
    }
    return count;
}

uint64_t drng_clone_count(void)
{
    const struct drng_vmclock *device = atomic_load_explicit(&drng_clone_watch.device, memory_order_acquire);
    uint64_t marker = 0;
    if (device != NULL && (!read_marker(device, &marker) ||
                           marker != atomic_load_explicit(&drng_clone_watch.marker, memory_order_acquire))) {
        return look_closely(device);
    }
    return atomic_load_explicit(&drng_clone_watch.count, memory_order_relaxed);
}

/*
 * Without a device nothing but a fork changes the epoch, and that wipes what is noted here. It is taken back where a
 * fork came before the store, into the child's page, or a device was mapped meanwhile. Whether there is one is asked
 * before the count: another thread that gives it up has counted that before.
 */
uint64_t drng_epoch_look(void)
{
    const uint64_t generation = drng_fork_generation();
    const bool is_watched = atomic_load(&drng_clone_watch.device) != NULL;
    const uint64_t epoch = generation + drng_clone_count();
    if (!is_watched) {
        atomic_store(&drng_fork_page->epoch, epoch);
        if (atomic_load(&drng_fork_page->generation) != generation || atomic_load(&drng_clone_watch.device) != NULL) {
            atomic_store(&drng_fork_page->epoch, 0);
        }
    }
    return epoch;
}

/*
 * A whole wait is enough, whatever the clock then says: it stands still where a filter of system calls refuses it.
 * Where it has gone back, as in a child with a time namespace of its own, nothing is waited for.
 */
void drng_clone_let_kernel_hear(void)
{
    bool waited = atomic_load(&drng_clone_watch.count) == 0;
    for (unsigned i = 0; i < WAITS && !waited; i++) {
        const uint64_t since = drng_os_clock_ns() - atomic_load(&drng_clone_watch.seen_at);
        waited = since >= DRNG_CLONE_KERNEL_NS || drng_os_wait(DRNG_CLONE_KERNEL_NS - since);
    }
}
