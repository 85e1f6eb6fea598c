/*
 * secmem.h - memory for secrets.
 *
 * Slots of one size in chunks of pages that are wiped in a forked child (fork.h), left out of core dumps, locked where
 * the limit allows, and fenced by inaccessible pages.
 *
 * A chunk is locked by the flag of the mmap() that makes it, so that no system call is made for the lock alone. Locks
 * are not inherited: a child of fork() locks its memory again, page by page as it is used, unless a system call filter
 * is on that might kill it for the call. What clone() makes knows nothing of it, and stays unlocked.
 */

#ifndef DRNG_SECMEM_H
#define DRNG_SECMEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { DRNG_SLOT_SIZE = 256 }; /* bytes */

/* Whether the memory for secrets is locked. The numbers are part of the layout in provider/observe/page.h. */
enum drng_memory_lock {
    DRNG_MEMORY_NOT_INHERITED = 0, /* no: this process is a child of the one that loaded the module */
    DRNG_MEMORY_LOCKED,
    DRNG_MEMORY_LIMITED, /* no, or not all: RLIMIT_MEMLOCK */
};

/*
 * Each successful open is to be matched by a close; the first maps a chunk, so that what a process draws later, in
 * a sandbox, finds room without a system call. False: no memory. Both under DRNG_LOCK_LOAD.
 */
bool drng_secmem_open(void);
void drng_secmem_close(void);

/* Where enum drng_memory_lock is noted, in memory that a fork wipes and that stays until the next such call. */
void drng_secmem_note_lock_in(atomic_uint_least64_t *state);

/* A slot of DRNG_SLOT_SIZE bytes, all zero and aligned to its size; NULL: no memory, or not open. */
void *drng_secmem_alloc(void);

/* Wipes the slot and takes it back; NULL is nothing. */
void drng_secmem_free(void *slot);

#endif
