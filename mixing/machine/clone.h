/*
 * clone.h - tells whether this virtual machine is a copy that was made after a generator was seeded.
 *
 * Two machines that are started from one snapshot have the same memory. If their generators went on from there, both
 * machines would output the same bytes. The hypervisor's clock device (vmclock.h) has a marker that has changed before
 * the first instruction of a copy is executed. It is the same in all copies: it tells that something must be done, and
 * is no entropy.
 *
 * The page of the device is mapped when the module loads, since only root may open the device; children and programs
 * that give up their rights keep the mapping. Where the device is not to be had, nothing is watched, and each request
 * takes in a fresh word instead (request_entropy.h).
 */

#ifndef DRNG_CLONE_H
#define DRNG_CLONE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/vmclock.h"
#include "mixing/memory/fork.h"

/* Shared by all threads. In ordinary memory, so a child of fork() goes on from its parent's. */
struct drng_clone_watch {
    const struct drng_vmclock *_Atomic device; /* NULL: nothing is watched */
    const atomic_uint_least64_t *generation;   /* the device's generation counter, or a zero if it has none */
    atomic_uint_least64_t marker;              /* the last one seen */
    atomic_uint_least64_t count;               /* changes seen */
    atomic_uint_least64_t seen_at;             /* when the last change was seen, on drng_os_clock_ns() */
};

extern struct drng_clone_watch drng_clone_watch;

/* Maps the device if that is possible. To be called under DRNG_LOCK_LOAD, as is the close. */
void drng_clone_open(void);
void drng_clone_close(void);

/* Whether changes are noticed. A device that stops answering, or changes without end, is given up. */
static inline bool drng_clone_is_watched(void)
{
    return atomic_load_explicit(&drng_clone_watch.device, memory_order_relaxed) != NULL;
}

/*
 * If the device did not answer, and answers now, it is watched from now on. That counts as a change. Called with each
 * seed.
 */
void drng_clone_try_again(void);

/* How often this process, or an ancestor before it forked, has noticed that its machine was copied. */
uint64_t drng_clone_count(void);

/* drng_epoch() in a new process, where a device is watched, and where the kernel does not wipe. */
uint64_t drng_epoch_look(void);

/*
 * The epoch of this memory: another number in each child process, and after each change of the marker. A generator
 * remembers the epoch in which it was seeded, and asks before and after each request. Neither summand ever decreases,
 * so the sum changes whenever one of them does.
 */
static inline uint64_t drng_epoch(void)
{
    const uint64_t generation =
        drng_fork_kernel_wipes ? atomic_load_explicit(&drng_fork_page->generation, memory_order_relaxed) : 0;
    if (__builtin_expect(generation == 0 || drng_clone_is_watched(), 0)) {
        return drng_epoch_look();
    }
    return generation + atomic_load_explicit(&drng_clone_watch.count, memory_order_relaxed);
}

/*
 * Whether it still is that epoch. The compiler moves no access to memory across the call, so a fork or a copy that came
 * at any instruction before it is not missed.
 */
static inline bool drng_epoch_is_still(uint64_t epoch)
{
    atomic_signal_fence(memory_order_seq_cst);
    return drng_epoch() == epoch;
}

/*
 * Waits until the kernel has had the time to hear of the last copy: DRNG_CLONE_KERNEL_NS after it was noticed. Until
 * then all copies may get the same bytes from the kernel's generator.
 */
void drng_clone_let_kernel_hear(void);

enum { DRNG_CLONE_KERNEL_NS = 100 * 1000 * 1000 };

#endif
