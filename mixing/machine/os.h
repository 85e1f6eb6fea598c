/*
 * os.h - what is taken from the operating system besides memory: random bytes, time, its view of the CPU.
 *
 * A link-time seam: os_linux.c is the product, and the tests link scripted bytes in its place.
 */

#ifndef DRNG_OS_H
#define DRNG_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/instruction.h"

/*
 * Fills out[0..len), len at most 256, from the kernel's generator and never waits for it: false, and out all
 * zero, where it is not initialised yet or not there. No cancellation point, as getrandom() of the C library is: its
 * callers hold locks and secrets.
 */
bool drng_os_random(uint8_t *out, size_t len);

/* Nanoseconds on a clock that only goes forward. */
uint64_t drng_os_clock_ns(void);

/* The kernel's verdict on the instructions, from the flags line of /proc/cpuinfo. */
struct drng_kernel_flags {
    bool known; /* false: no flags line could be read (a chroot, say), and CPUID alone decides */
    bool has[DRNG_INSTRUCTIONS];
};

/* By one thread at a time. */
void drng_os_kernel_flags(struct drng_kernel_flags *flags);

#endif
