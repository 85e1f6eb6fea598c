/*
 * thread.h - the number of a thread, by which a signal handler knows what its own thread was about.
 *
 * A mark of what is under way lies in memory that a fork does not wipe, and is the number of the thread. A handler that
 * finds its own has interrupted that thread, also in a child that was forked in the middle and goes on there. In a
 * child, the number of a thread that it does not have means nothing; nor does that of a thread which ended in the
 * middle.
 */

#ifndef DRNG_THREAD_H
#define DRNG_THREAD_H

#include <stdint.h>

/* 0: this thread has none yet. */
extern _Thread_local uint64_t drng_thread_number;

/* The slow path of drng_this_thread(). */
uint64_t drng_thread_number_new(void);

/* Never 0. No other thread has it, in this process or in one that it was forked from. */
static inline uint64_t drng_this_thread(void)
{
    const uint64_t number = drng_thread_number;
    return __builtin_expect(number != 0, 1) ? number : drng_thread_number_new();
}

#endif
