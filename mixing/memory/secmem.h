/*
 * secmem.h - memory for secrets.
 *
 * Secrets live in slots of one size, or in wide slots, which are several of them in a row. Slots lie in chunks of
 * pages, which are wiped in a forked child (fork.h), left out of core dumps, locked in memory as far as RLIMIT_MEMLOCK
 * allows, and fenced by inaccessible pages.
 *
 * The mmap() that makes a chunk also locks it (MAP_LOCKED), so locking takes no system call of its own. A child of
 * fork() does not inherit locked memory, and does not lock its chunks again, since a filter of system calls might kill
 * it for the call; the chunks that it maps itself are locked.
 */

#ifndef DRNG_SECMEM_H
#define DRNG_SECMEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { DRNG_SLOT_SIZE = 256, DRNG_WIDE_SLOT_SIZE = 1024 }; /* bytes */

/* Whether the memory for secrets is locked. The values are part of the layout in provider/observe/stats.h. */
enum drng_memory_lock {
    DRNG_MEMORY_NOT_INHERITED = 0, /* not locked: this process is a child of the one that loaded the module */
    DRNG_MEMORY_LOCKED,
    DRNG_MEMORY_LIMITED, /* not locked, or not all of it: RLIMIT_MEMLOCK is too low */
};

/*
 * Each successful open needs a close. The first open maps a chunk, so that a process which draws later, in a sandbox,
 * needs no system call for it. False: no memory. Both functions are called under DRNG_LOCK_LOAD.
 */
bool drng_secmem_open(void);
void drng_secmem_close(void);

/*
 * From now on `state` holds enum drng_memory_lock. It must lie in memory that a fork wipes, and stay valid until the
 * next call.
 */
void drng_secmem_note_lock_in(atomic_uint_least64_t *state);

/* Allocates a slot of DRNG_SLOT_SIZE bytes, all zero and aligned to its size. NULL: no memory, or not open. */
void *drng_secmem_alloc(void);

/* Wipes and frees the slot; NULL is allowed. */
void drng_secmem_free(void *slot);

/* The same for a wide slot, of DRNG_WIDE_SLOT_SIZE bytes. */
void *drng_secmem_alloc_wide(void);
void drng_secmem_free_wide(void *slot);

#endif
