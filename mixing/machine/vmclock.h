/*
 * vmclock.h - the page that a virtual machine's clock device shows to its guest.
 *
 * From the VMClock specification, version 1, and include/uapi/linux/vmclock-abi.h of Linux 6.13. Only the fields that
 * are read here have names. All are little-endian.
 */

#ifndef DRNG_VMCLOCK_H
#define DRNG_VMCLOCK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { DRNG_VMCLOCK_VERSION = 1 };
#define DRNG_VMCLOCK_MAGIC               UINT32_C(0x4b4c4356) /* "VCLK" */
#define DRNG_VMCLOCK_GENERATION_IS_THERE (UINT64_C(1) << 8)

struct drng_vmclock {
    uint32_t magic;
    uint32_t size; /* bytes of the page */
    uint16_t version;
    uint8_t unused_1[2];
    atomic_uint_least32_t sequence;          /* odd while the hypervisor writes */
    atomic_uint_least64_t disruption_marker; /* another value whenever the machine was copied, restored or migrated */
    uint64_t flags;
    uint8_t unused_2[72];
    atomic_uint_least64_t generation_counter; /* another value whenever the machine was restored; if the flag is set */
};

_Static_assert(offsetof(struct drng_vmclock, sequence) == 12 &&
                   offsetof(struct drng_vmclock, disruption_marker) == 16 &&
                   offsetof(struct drng_vmclock, flags) == 24 &&
                   offsetof(struct drng_vmclock, generation_counter) == 104,
               "the layout is the specification's");

#endif
