/* kernel.h - whether the kernel wipes memory in a forked child; decided by what is linked. */

#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#include <stdbool.h>

/*
 * To be called once the provider is loaded and before a generator is made. kernel_as_is.c does nothing;
 * kernel_no_wipe.c, with the provider linked in, makes this a kernel without MADV_WIPEONFORK.
 */
bool kernel_prepare(void);

/* Takes the protection off every page of this process: a fork copies the generators as they are. */
bool kernel_keep_on_fork(void);

/* Whether valgrind runs this program; or that or a sanitizer, which make system calls and map memory of their own. */
bool kernel_is_under_valgrind(void);
bool kernel_is_instrumented(void);

/* The memory for secrets, as the kernel shows it: mappings that are wiped in a forked child. */
unsigned kernel_wiped_mappings(void);
bool kernel_wipes_address(const void *address);

/* Slots in it, anywhere in this process, that are not all zero. */
unsigned kernel_filled_slots(void);

#endif
