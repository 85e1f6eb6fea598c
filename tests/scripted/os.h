/* os.h - an operating system that answers what a test says; linked in place of os_linux.c. */

#ifndef SCRIPTED_OS_H
#define SCRIPTED_OS_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/os.h"

extern uint64_t scripted_clock_ns;
extern bool scripted_os_ready;     /* false: the kernel's generator is not initialised yet */
extern uint8_t scripted_os_byte;   /* what every byte of it is */
extern unsigned scripted_os_calls; /* how often it was asked */
extern struct drng_kernel_flags scripted_kernel_flags;

/* Ready, bytes of zero, and a kernel that allows both instructions. */
void scripted_os_reset(void);

#endif
