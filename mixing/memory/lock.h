/*
 * lock.h - locks that a fork, a cancelled thread and a signal handler leave usable.
 *
 * A lock lies in memory that is wiped in a child (a slot, or the page of fork.h): all zero is an unlocked one (glibc,
 * musl), so a lock that another thread held at the fork is free in the child.
 *
 * A thread that holds one cannot be cancelled: what is called meanwhile, the default seed source for instance, may be a
 * cancellation point, and the lock of a thread that has ended is never given back.
 *
 * A signal handler that runs while its thread holds a lock is refused that lock, where it would wait for itself.
 */

#ifndef DRNG_LOCK_H
#define DRNG_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "mixing/memory/fork.h"

struct drng_lock {
    pthread_mutex_t mutex;
};

/* False: this thread holds it already, and a signal handler has interrupted it. Nests to a depth of DRNG_LOCK_DEPTH. */
bool drng_lock(struct drng_lock *lock);

/*
 * The same, but true for the signal handler too, which then shares what the lock guards with the code that it
 * interrupted: for what can tell by itself that it is in the middle of something. False: the depth is spent.
 */
bool drng_lock_or_share(struct drng_lock *lock);

/* Gives back what the last of either took. */
void drng_unlock(struct drng_lock *lock);

/* Every lock outside slots; they are taken in this order. */
enum drng_process_lock {
    DRNG_LOCK_LOAD,  /* the first load and the last unload */
    DRNG_LOCK_SLOTS, /* which slots are taken */
    DRNG_LOCK_TEXT,  /* the text in the counters' head */
    DRNG_LOCKS,
};

_Static_assert(DRNG_LOCKS * sizeof(struct drng_lock) <= DRNG_FORK_MORE,
               "the locks do not fit the page that a fork wipes");

static inline struct drng_lock *drng_process_lock(enum drng_process_lock which)
{
    return (struct drng_lock *)(void *)drng_fork_page->more + which;
}

/* A generator of the module's under one of libcrypto's under another of the module's: no chain is as deep as this. */
enum { DRNG_LOCK_DEPTH = 8 };

#endif
