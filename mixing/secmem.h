/*
 * secmem.h - memory for secrets, and with it the detection of forks.
 *
 * Slots of one size in chunks of pages that are wiped in a forked child, left out of core dumps, locked where
 * the limit allows, and fenced by inaccessible pages. A slot that reads all zero although its owner filled it
 * is in a new process: that is how generators notice a fork, with no system call and whatever the process
 * ids say. For that the owner keeps something in it that is never zero.
 *
 * Locks belong in slots too: the all-zero pthread_mutex_t is an unlocked one (glibc, musl), so a lock that
 * another thread held at the fork is free in the child.
 */

#ifndef DRNG_SECMEM_H
#define DRNG_SECMEM_H

#include <stdbool.h>
#include <stddef.h>

enum { DRNG_SLOT_SIZE = 256 }; /* bytes */

/*
 * Each successful open is to be matched by a close; the first maps a chunk, so that what a process draws later, in
 * a sandbox, finds room without a system call. False: no memory.
 */
bool drng_secmem_open(void);
void drng_secmem_close(void);

/* A slot of DRNG_SLOT_SIZE bytes, all zero and aligned to its size; NULL: no memory, or not open. */
void *drng_secmem_alloc(void);

/* Wipes the slot and takes it back; NULL is nothing. */
void drng_secmem_free(void *slot);

/* Whether the kernel wipes the slots in a forked child; settled by the first open. */
extern bool drng_secmem_kernel_wipes;

/* Where the kernel does not: wipes them if this process is not the one that filled them. */
void drng_secmem_wipe_if_forked(void);

/* To be called before a slot's contents are relied on. */
static inline void drng_secmem_check_fork(void)
{
    if (__builtin_expect(!drng_secmem_kernel_wipes, 0)) {
        drng_secmem_wipe_if_forked();
    }
}

#endif
