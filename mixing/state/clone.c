/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the clock device of a virtual machine; a device that does not answer is given up. */

#include "mixing/state/clone.h"

#include <endian.h>

#include "mixing/machine/instruction.h"
#include "mixing/machine/os.h"

/*
 * Looks while the hypervisor writes: a thousand, and then a wait before more of them, since the thread that writes
 * may be waiting for a processor. Then the device is taken for broken.
 */
enum { LOOKS = 1000, LOOK_ROUNDS = 100, LOOK_WAIT_NS = 1000 * 1000 };

/*
 * Changes that are believed, each within a second of the one before. No machine is copied so often: a device that goes
 * on so is broken, and a request would start over for ever.
 */
enum { MOST_IN_A_ROW = 16, IN_A_ROW_NS = 1000 * 1000 * 1000 };

/* Waits that signals end, or that a filter refuses; then the time is up even if the clock stands still. */
enum { WAITS = 1000000 };

static const atomic_uint_least64_t no_generation;

struct drng_clone_watch drng_clone_watch;

/* Both values at once: each changes another half, so a change of both cannot look like none. The magic number is
 * a part, since a host that has no such device may leave a page of zeros in its place. */
static uint64_t marker_of(const struct drng_vmclock *device)
{
    const uint64_t generation = atomic_load_explicit(drng_clone_watch.generation, memory_order_relaxed);
    const uint64_t disruption = atomic_load_explicit(&device->disruption_marker, memory_order_relaxed);
    return device->magic ^ disruption ^ (generation << 32 | generation >> 32);
}

/* Whether *marker was read while the hypervisor did not write. */
static bool read_marker(const struct drng_vmclock *device, uint64_t *marker)
{
    const uint32_t before = atomic_load_explicit(&device->sequence, memory_order_acquire);
    *marker = marker_of(device);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&device->sequence, memory_order_relaxed) == before && (le32toh(before) & 1) == 0;
}

/* False: the device does not answer. */
static bool look(const struct drng_vmclock *device, uint64_t *marker)
{
    for (unsigned round = 0; round < LOOK_ROUNDS; round++) {
        for (unsigned i = 0; i < LOOKS; i++) {
            if (read_marker(device, marker)) {
                return true;
            }
            drng_pause();
        }
        (void)drng_os_wait(LOOK_WAIT_NS);
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
    if (le32toh(mapped->magic) != DRNG_VMCLOCK_MAGIC || le16toh(mapped->version) != DRNG_VMCLOCK_VERSION ||
        le32toh(mapped->size) < offsetof(struct drng_vmclock, generation_counter)) {
        drng_os_unmap_vmclock(mapped);
        return;
    }
    const bool has_generation = (le64toh(mapped->flags) & DRNG_VMCLOCK_GENERATION_IS_THERE) != 0 &&
                                le32toh(mapped->size) >= sizeof(struct drng_vmclock);
    drng_clone_watch.generation = has_generation ? &mapped->generation_counter : &no_generation;
    if (!look(mapped, &marker)) {
        drng_os_unmap_vmclock(mapped);
        return;
    }
    atomic_store(&drng_clone_watch.marker, marker);
    atomic_store(&drng_clone_watch.device, mapped);
}

/*
 * Also while the hypervisor writes. Every change is counted before the marker and the device are stored: a thread that
 * sees the new marker, or no device any more, takes the count for all that there is to know. A device that does not
 * answer may have told of a copy, so it is given up as one that has.
 */
static __attribute__((noinline, cold)) uint64_t look_closely(const struct drng_vmclock *device)
{
    static atomic_uint in_a_row;
    uint64_t marker = 0;
    const bool answers = look(device, &marker) && le32toh(device->magic) == DRNG_VMCLOCK_MAGIC;
    if (answers && marker == atomic_load(&drng_clone_watch.marker)) {
        return atomic_load(&drng_clone_watch.count);
    }
    const uint64_t now = drng_os_clock_ns();
    const uint64_t last = atomic_exchange(&drng_clone_watch.seen_at, now);
    const uint64_t count = atomic_fetch_add(&drng_clone_watch.count, 1) + 1;
    bool broken = !answers;
    if (answers && atomic_exchange(&drng_clone_watch.marker, marker) != marker) {
        /* One thread comes here for each change. */
        if (now - last >= IN_A_ROW_NS) {
            atomic_store(&in_a_row, 0);
        }
        broken = atomic_fetch_add(&in_a_row, 1) >= MOST_IN_A_ROW;
    }
    if (broken) {
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

uint64_t drng_epoch_look(void)
{
    return drng_fork_generation() + drng_clone_count();
}

/* A whole wait is enough, whatever the clock then says: it stands still where a filter of system calls refuses it. */
void drng_clone_let_kernel_hear(void)
{
    bool waited = atomic_load(&drng_clone_watch.count) == 0;
    for (unsigned i = 0; i < WAITS && !waited; i++) {
        const uint64_t now = drng_os_clock_ns();
        uint64_t seen_at = atomic_load(&drng_clone_watch.seen_at);
        /*
         * In a child with a time namespace of its own the clock may be hours behind the one on which the change was
         * seen; so may that of a process restored elsewhere. Then the time counts from now.
         */
        if (seen_at > now + DRNG_CLONE_KERNEL_NS) {
            seen_at = now;
            atomic_store(&drng_clone_watch.seen_at, now);
        }
        const uint64_t until = seen_at + DRNG_CLONE_KERNEL_NS;
        waited = now >= until || drng_os_wait(until - now);
    }
}
