/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - a clock device of a virtual machine that this process pretends to have, in place of /dev/vmclock0.
 *
 * Linked with -Wl,--wrap=drng_os_map_vmclock,--wrap=drng_os_unmap_vmclock.
 */

#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "mixing/state/clone.h"

/* From now on a load of the provider finds the device. False: no memory. */
bool device_plug_in(void);
void device_unplug(void);

/* Called once, where the provider looks for the device. NULL: nothing. */
extern void (*device_looked_for)(void);

/* The whole page, mapped for this process alone: a child of fork() has a copy, as a copy of the machine has. */
struct drng_vmclock *device_page(size_t *size);

/* What the hypervisor does in a copy of the machine before its first instruction. */
void device_tell(void);

#endif
