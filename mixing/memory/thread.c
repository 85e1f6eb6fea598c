#include "mixing/memory/thread.h"

#include <stdatomic.h>

/* Of the thread that was numbered last. Ordinary memory, so that a child counts on from its parent. */
static atomic_uint_least64_t last;

_Thread_local uint64_t drng_thread_number;

uint64_t drng_thread_number_new(void)
{
    drng_thread_number = atomic_fetch_add(&last, 1) + 1;
    return drng_thread_number;
}
