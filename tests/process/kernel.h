/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - what a forked child inherits. What is linked decides. */

#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#include <stdbool.h>

/*
 * To be called once the provider is loaded and before a generator is made. kernel_as_is.c does nothing;
 * kernel_no_wipe.c, with the provider linked in, makes this a kernel without MADV_WIPEONFORK; kernel_copied.c, too,
 * lets a child stand for a copy of the machine.
 */
bool kernel_prepare(void);

/* To be called before the provider is loaded. */
bool kernel_before_load(void);

/* To be called in a child before it goes on. */
void kernel_born(void);

/* Whether children stand for copies of the machine. */
bool kernel_copies(void);

/* Whether the memory of a child is wiped of which the C library learns nothing. */
bool kernel_wipes_clones(void);

/* Undoes MADV_WIPEONFORK for every page of this process, so that a fork copies the generators as they are. */
bool kernel_keep_on_fork(void);

/*
 * Whether this program runs under valgrind; under valgrind or a sanitizer, which make system calls and mappings of
 * their own.
 */
bool kernel_is_under_valgrind(void);
bool kernel_is_instrumented(void);

/* The number of mappings that are wiped in a forked child, as the kernel shows them: the memory for secrets. */
unsigned kernel_wiped_mappings(void);
bool kernel_wipes_address(const void *address);

/* The number of slots in this process that are not all zero. */
unsigned kernel_filled_slots(void);

#endif
