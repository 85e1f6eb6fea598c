#include "mixing/machine/clone.h"

#include <endian.h>

#include "mixing/machine/instruction.h"
#include "mixing/machine/os.h"

/*
 * Looks while the hypervisor writes, with a pause between. It writes before the copy's first instruction, so an odd
 * sequence number that stays is a device that does not follow the specification.
 */
enum { LOOKS = 100000 };

static const atomic_uint_least64_t no_generation;

struct drng_clone_watch drng_clone_watch;

/* What is mapped; also while nothing is watched any more, since other threads may still be reading. */
static const struct drng_vmclock *mapped;

static bool is_usable(const struct drng_vmclock *device)
{
    return le32toh(device->magic) == DRNG_VMCLOCK_MAGIC && le16toh(device->version) == DRNG_VMCLOCK_VERSION &&
           le32toh(device->size) >= offsetof(struct drng_vmclock, generation_counter);
}

static bool has_generation(const struct drng_vmclock *device)
{
    return (le64toh(device->flags) & DRNG_VMCLOCK_GENERATION_IS_THERE) != 0 &&
           le32toh(device->size) >= sizeof(struct drng_vmclock);
}

/* False: the device does not answer. */
static bool look(const struct drng_vmclock *device, uint64_t *marker)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        if (drng_clone_read(device, marker)) {
            return true;
        }
        drng_pause();
    }
    return false;
}

void drng_clone_open(void)
{
    uint64_t marker = 0;
    mapped = drng_os_map_vmclock();
    if (mapped == NULL) {
        return;
    }
    drng_clone_watch.generation = has_generation(mapped) ? &mapped->generation_counter : &no_generation;
    if (is_usable(mapped) && look(mapped, &marker)) {
        atomic_store(&drng_clone_watch.marker, marker);
        atomic_store(&drng_clone_watch.device, mapped);
    }
}

void drng_clone_close(void)
{
    atomic_store(&drng_clone_watch.device, NULL);
    if (mapped != NULL) {
        drng_os_unmap_vmclock(mapped);
        mapped = NULL;
    }
}

/* Counts before it stores the marker: a thread that sees the new marker must see the new count. */
static uint64_t note_change(void)
{
    atomic_store(&drng_clone_watch.seen_at, drng_os_clock_ns());
    return atomic_fetch_add(&drng_clone_watch.count, 1) + 1;
}

uint64_t drng_clone_look(void)
{
    const struct drng_vmclock *device = atomic_load(&drng_clone_watch.device);
    uint64_t marker = 0;
    if (device == NULL) {
        return atomic_load(&drng_clone_watch.count);
    }
    if (!look(device, &marker)) {
        /* A copy may have been missed. */
        atomic_store(&drng_clone_watch.device, NULL);
        return note_change();
    }
    if (marker == atomic_load(&drng_clone_watch.marker)) {
        return atomic_load(&drng_clone_watch.count);
    }
    const uint64_t count = note_change();
    atomic_store(&drng_clone_watch.marker, marker);
    return count;
}

void drng_clone_let_kernel_hear(void)
{
    if (atomic_load(&drng_clone_watch.count) == 0) {
        return;
    }
    const uint64_t until = atomic_load(&drng_clone_watch.seen_at) + DRNG_CLONE_KERNEL_NS;
    for (uint64_t now = drng_os_clock_ns(); now < until; now = drng_os_clock_ns()) {
        drng_os_wait(until - now);
    }
}
