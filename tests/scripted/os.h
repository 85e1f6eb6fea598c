/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - an operating system that answers what a test says. Linked in place of os_linux.c. */

#ifndef SCRIPTED_OS_H
#define SCRIPTED_OS_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/os.h"

extern uint64_t scripted_clock_ns;
extern void (*scripted_on_clock)(void); /* called whenever the clock is read; NULL: nothing */
extern bool scripted_os_ready;          /* false: the kernel's generator is not initialised yet */
extern uint8_t scripted_os_byte;        /* every byte that the generator returns */
extern unsigned scripted_os_calls;      /* how often the generator was asked */
extern struct drng_kernel_flags scripted_kernel_flags;

extern struct drng_vmclock *scripted_vmclock; /* what is mapped as the clock device; NULL: there is none */
extern bool scripted_clock_stands;            /* a wait does not advance the clock */
extern uint64_t scripted_waited_ns;           /* the sum of all waits */
extern unsigned scripted_waits;               /* how often somebody waited; the clock then advances */

/* The clock device is not watched any more, as in a process that has not loaded the module yet. */
void scripted_unwatch(void);

/* Sets a generator that is ready and returns zeros, and a kernel that allows both instructions. */
void scripted_os_reset(void);

#endif
