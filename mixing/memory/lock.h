/*
 * lock.h - locks that stay usable after a fork.
 *
 * A lock lies in memory that is wiped in a child (a slot, or the page of fork.h). In glibc and musl a mutex of zeros is
 * unlocked, so a lock that another thread held at the fork is free in the child.
 *
 * A thread that ended under a lock would leave it held. So what may be a cancellation point, OpenSSL's default seed
 * source and foreign parents, is called where pthread_setcancelstate() has disabled that. Asynchronous cancellation
 * during a draw is not supported.
 */

#ifndef DRNG_LOCK_H
#define DRNG_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mixing/memory/fork.h"

struct drng_lock {
    pthread_mutex_t mutex;
    atomic_uintptr_t holder; /* pthread_self() of the thread that holds it; 0: none does */
};

/* False: this thread holds the lock already. It is refused, and not queued: it would wait for itself. */
static inline bool drng_lock(struct drng_lock *lock)
{
    const uintptr_t self = (uintptr_t)pthread_self();
    if (atomic_load_explicit(&lock->holder, memory_order_relaxed) == self) {
        return false;
    }
    (void)pthread_mutex_lock(&lock->mutex);
    atomic_store_explicit(&lock->holder, self, memory_order_relaxed);
    return true;
}

/* Does nothing in a child that was forked since drng_lock(): there the lock was wiped, and is free. */
static inline void drng_unlock(struct drng_lock *lock)
{
    if (atomic_load_explicit(&lock->holder, memory_order_relaxed) == (uintptr_t)pthread_self()) {
        atomic_store_explicit(&lock->holder, 0, memory_order_relaxed);
        (void)pthread_mutex_unlock(&lock->mutex);
    }
}

/* Every lock that lies outside slots, in the order in which they are taken. */
enum drng_process_lock {
    DRNG_LOCK_LOAD,    /* held while the first instance loads or the last one unloads */
    DRNG_LOCK_THREADS, /* guards which threads have generators under which instance */
    DRNG_LOCK_TEXT,    /* guards the text in the head of the counters */
    DRNG_LOCKS,
};

_Static_assert(DRNG_LOCKS * sizeof(struct drng_lock) <= DRNG_FORK_MORE,
               "the locks do not fit the page that a fork wipes");

static inline struct drng_lock *drng_process_lock(enum drng_process_lock which)
{
    return (struct drng_lock *)(void *)drng_fork_page->more + which;
}

#endif
