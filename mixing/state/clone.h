/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone.h - tells whether this virtual machine is a copy that was made after a generator was seeded.
 *
 * Two machines that are started from one snapshot have the same memory. If their generators went on from there, both
 * machines would output the same bytes. The hypervisor's clock device has a marker that has changed before
 * the first instruction of a copy is executed. It is the same in all copies: it tells that something must be done, and
 * is no entropy.
 *
 * The page of the device is mapped when the module loads, since only root may open the device; children and programs
 * that give up their rights keep the mapping. Where the device is not to be had, nothing is watched, and each request
 * takes in a fresh word instead (request_entropy.h).
 */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/state/fork.h"

/*
 * The page that the device shows to its guest: the VMClock specification 1.1 (https://david.woodhou.se/VMClock.pdf),
 * whose pages have the version 1, and include/uapi/linux/vmclock-abi.h of Linux 7.3. Only the fields that are read here
 * have names. All are little-endian.
 */
enum { DRNG_VMCLOCK_VERSION = 1 };
#define DRNG_VMCLOCK_MAGIC UINT32_C(0x4b4c4356) /* "VCLK" */

struct drng_vmclock {
    uint32_t magic;
    uint32_t size; /* bytes of the page */
    uint16_t version;
    uint8_t unused[2];
    atomic_uint_least32_t sequence;          /* odd while the hypervisor writes */
    atomic_uint_least64_t disruption_marker; /* another value whenever the machine was copied, restored or migrated */
};

_Static_assert(offsetof(struct drng_vmclock, sequence) == 12 && offsetof(struct drng_vmclock, disruption_marker) == 16,
               "the layout is the specification's");

/* Shared by all threads. In ordinary memory, so a child of fork() goes on from its parent's. */
struct drng_clone_watch {
    const struct drng_vmclock *_Atomic device; /* NULL: there is none, or it was given up */
    atomic_uint_least64_t marker;              /* the last one seen */
    atomic_uint_least64_t count;               /* changes seen */
    atomic_uint_least64_t seen_at;             /* when the last change was seen, on drng_os_clock_ns() */
};

extern struct drng_clone_watch drng_clone_watch;

/* Maps the device for the life of the process, if that is possible. To be called under DRNG_LOCK_LOAD. */
void drng_clone_open(void);

/* Whether changes are noticed now. A device that stops answering is given up. */
static inline bool drng_clone_is_watched(void)
{
    return atomic_load_explicit(&drng_clone_watch.device, memory_order_relaxed) != NULL;
}

/* How often this process, or an ancestor before it forked, has noticed that its machine was copied. */
uint64_t drng_clone_count(void);

/* drng_epoch() where it is not noted: in a new process, and where there is a device. */
uint64_t drng_epoch_look(void);

/*
 * The epoch of this memory: another number in each child process, and after each change of the marker. Neither summand
 * ever decreases, so the sum changes whenever one of them does. The compiler moves no access to memory from before the
 * call behind it: a fork or a copy that came at any instruction before it is not missed.
 */
static inline uint64_t drng_epoch(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    const uint64_t epoch = atomic_load_explicit(&drng_fork_page->epoch, memory_order_relaxed);
    return __builtin_expect(epoch != 0, 1) ? epoch : drng_epoch_look();
}

/*
 * Waits until the kernel has had the time to hear of the last copy: DRNG_CLONE_KERNEL_NS after it was noticed. Until
 * then all copies may get the same bytes from the kernel's generator.
 */
void drng_clone_let_kernel_hear(void);

enum { DRNG_CLONE_KERNEL_NS = 100 * 1000 * 1000 };
