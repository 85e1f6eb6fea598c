/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os.h - what comes from the operating system: the size of its pages, random bytes, time, its view of the CPU, and the
 * clock device of a virtual machine.
 *
 * A link-time seam: the product links os_linux.c, the tests a scripted system.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "mixing/machine/instruction.h"

/* ---- Whole pages: the kernel wipes, locks and protects nothing smaller ---- */

enum { DRNG_LARGEST_PAGE = 1 << 16 }; /* bytes, on arm64 and ppc64; on x86-64 a page has 4,096 */

static inline size_t drng_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* `size` rounded up to whole pages. */
static inline size_t drng_whole_pages(size_t size)
{
    const size_t page = drng_page_size();
    return (size + page - 1) / page * page;
}

/* The first address from `room` on at which a page begins. */
static inline uint8_t *drng_page_start(uint8_t *room)
{
    const size_t page = drng_page_size();
    return room + (page - (uintptr_t)room % page) % page;
}

/* ---- What the tests script ---- */

/*
 * Fills out[0..len), len at most 256, from the kernel's generator, without waiting. False, and out all zero, if that
 * generator is not initialised yet or does not exist. This is no cancellation point, since callers
 * hold locks and secrets.
 */
bool drng_os_random(uint8_t *out, size_t len);

/* Nanoseconds on a monotonic clock. */
uint64_t drng_os_clock_ns(void);

/*
 * Sleeps for ns nanoseconds at most; false: a signal has ended it before. No cancellation point. Its one system call
 * is futex(), which a lock makes, too.
 */
bool drng_os_wait(uint64_t ns);

struct drng_vmclock;

/* The device's page, to be unmapped; NULL: there is none, or this process may not open it. */
struct drng_vmclock *drng_os_map_vmclock(void);
void drng_os_unmap_vmclock(struct drng_vmclock *page);

/*
 * The instructions that the kernel allows, from the flags line of /proc/cpuinfo. It costs 16 microseconds for each
 * processor, and milliseconds on some kernels: it is read only where the kernel decides (eligibility.h).
 */
struct drng_kernel_flags {
    bool known; /* false: no flags line could be read (in a chroot, or under systemd's ProcSubset=pid) */
    bool has[DRNG_INSTRUCTIONS];
};

void drng_os_kernel_flags(struct drng_kernel_flags *flags);

/*
 * Fills *flags from the first complete line of the file that starts with "flags": a processor's. False, with *flags
 * unchanged, if there is no such line.
 */
bool drng_os_read_flags(FILE *cpuinfo, struct drng_kernel_flags *flags);
