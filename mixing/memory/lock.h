/*
 * lock.h - locks that stay usable after a fork, and with cancelled threads and signal handlers.
 *
 * A lock lies in memory that is wiped in a child (a slot, or the page of fork.h). In glibc and musl a mutex of zeros is
 * unlocked, so a lock that another thread held at the fork is free in the child.
 *
 * A thread that holds a lock cannot be cancelled. Functions called under the lock, the default seed source for
 * instance, may be cancellation points, and a thread that ended there would never unlock.
 *
 * A signal handler that asks for a lock which its own thread holds is refused, since it would wait for itself. If the
 * handler forks, the interrupted call goes on in the child as well: another handler there is refused a lock that this
 * call has taken in the child, too.
 */

#ifndef DRNG_LOCK_H
#define DRNG_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "mixing/memory/fork.h"

struct drng_lock {
    pthread_mutex_t mutex;
};

/*
 * False: this thread already holds the lock, or is taking it, so the caller is a signal handler that interrupted the
 * holder; or it holds DRNG_LOCK_DEPTH locks.
 */
bool drng_lock(struct drng_lock *lock);

/*
 * Like drng_lock(), but a signal handler succeeds, too, and then shares the guarded data with the code that it
 * interrupted. For data that shows by itself that it is in use. False: the thread holds DRNG_LOCK_DEPTH locks.
 */
bool drng_lock_or_share(struct drng_lock *lock);

/*
 * Whether a drng_lock() of this thread is at work, so that the caller is a signal handler that interrupted it. A lock
 * that is shared then may be another thread's.
 */
bool drng_lock_is_waited_for(const struct drng_lock *lock);

/* Undoes the last drng_lock() or drng_lock_or_share() of this lock. */
void drng_unlock(struct drng_lock *lock);

/* Every lock that lies outside slots, in the order in which they are taken. */
enum drng_process_lock {
    DRNG_LOCK_LOAD,  /* held while the first instance loads or the last one unloads */
    DRNG_LOCK_SLOTS, /* guards which slots are in use */
    DRNG_LOCK_TEXT,  /* guards the text in the head of the counters */
    DRNG_LOCKS,
};

_Static_assert(DRNG_LOCKS * sizeof(struct drng_lock) <= DRNG_FORK_MORE,
               "the locks do not fit the page that a fork wipes");

static inline struct drng_lock *drng_process_lock(enum drng_process_lock which)
{
    return (struct drng_lock *)(void *)drng_fork_page->more + which;
}

/* The most locks that one thread holds. drng and libcrypto call each other under locks, but never as deep as this. */
enum { DRNG_LOCK_DEPTH = 8 };

#endif
