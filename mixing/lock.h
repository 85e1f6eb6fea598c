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

/* A generator of the module's under one of libcrypto's under another of the module's: no chain is as deep as this. */
enum { DRNG_LOCK_DEPTH = 8 };

#endif
