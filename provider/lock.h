/*
 * lock.h - the lock of a generator that threads share, in the slot of its secrets.
 *
 * Wiped with them in a forked child, which is what frees it there: the thread that held it may not exist any more.
 */

#ifndef DRNG_LOCK_H
#define DRNG_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "mixing/secmem.h"

static inline bool drng_lock(pthread_mutex_t *lock)
{
    drng_secmem_check_fork();
    return pthread_mutex_lock(lock) == 0;
}

static inline void drng_unlock(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
}

#endif
