/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secmem.h - memory for secrets.
 *
 * Secrets live in slots of one size, or in wide slots, which are several of them in a row. Slots lie in chunks of
 * pages, which are wiped in a forked child (fork.h), left out of core dumps, and fenced by inaccessible pages.
 *
 * The first chunk, which is mapped at the load, is also locked in memory, by the mmap() that reserves it (MAP_LOCKED)
 * and where RLIMIT_MEMLOCK allows that. What is mapped later is not, and a child does not inherit the lock: by then the
 * program may kill for a call to lock.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRNG_SLOT_SIZE = 256, DRNG_WIDE_SLOT_SIZE = 1024 }; /* bytes */

/*
 * Whether the memory for secrets that was mapped at the load is locked: drng_fork_page has it. The values are part of
 * the layout in provider/observe/stats.h.
 */
enum drng_memory_lock {
    DRNG_MEMORY_NOT_INHERITED = 0, /* not locked: a child */
    DRNG_MEMORY_LOCKED,
    DRNG_MEMORY_LIMITED, /* not locked: RLIMIT_MEMLOCK is too low */
};

/*
 * The first open maps a chunk, so that a process which draws later, in a sandbox, needs no system call for it; false:
 * no memory. A close unmaps all, unless a slot is in use. Both functions are called under DRNG_LOCK_LOAD.
 */
bool drng_secmem_open(void);
void drng_secmem_close(void);

/* The object that a slot is for: the token of the process that made the object (fork.h), and a number of its own. */
struct drng_object {
    uint64_t process, number; /* neither is 0 */
};

/* Allocates a slot of one of the two sizes, all zero and aligned to its size. NULL: no memory, or not open. */
void *drng_secmem_alloc(size_t size);

/* Notes whose this slot is, until it is freed; a number of 0: nobody's. A child inherits what was noted. */
void drng_secmem_name(void *slot, struct drng_object object);

/* Whether this address is that object's slot in this process. The memory there is not touched. */
bool drng_secmem_is(const void *slot, struct drng_object object);

/* Wipes and frees a slot of that size; NULL is allowed. */
void drng_secmem_free(void *slot, size_t size);
