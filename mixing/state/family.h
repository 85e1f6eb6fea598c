/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - what a family of processes has found out together.
 *
 * A family is the process that loaded the module, and its descendants. They share one page: so what a child has found
 * is seen when the child has ended, and where one has lost time the others need not.
 *
 * A process that was taken over can write anything there. So what is read there decides no test and disables nothing:
 * it is shown, and may make a process ask the next source of seeds sooner (noise.h).
 */

#pragma once

#include "mixing/machine/counters.h"

extern struct drng_family *drng_family; /* from drng_family_open() on; no process removes it */

/*
 * Maps the page. Without memory for it each process counts for itself. Does nothing where it has been mapped. To be
 * called under DRNG_LOCK_LOAD.
 */
void drng_family_open(void);
