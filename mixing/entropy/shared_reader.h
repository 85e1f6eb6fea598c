/* shared_reader.h - a reader of seeds that threads share, and that a fork or a signal handler may interrupt. */

#ifndef DRNG_SHARED_READER_H
#define DRNG_SHARED_READER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mixing/entropy/seed.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/secmem.h"

/* In a slot, so that in a forked child the lock is free and the reader is in its initial state. */
struct drng_reader_slot {
    struct drng_lock lock;
    struct drng_seed_reader reader;
};
_Static_assert(sizeof(struct drng_reader_slot) <= DRNG_SLOT_SIZE, "a seed reader outgrew its slot");

struct drng_shared_reader {
    struct drng_reader_slot *slot;
    uint64_t epoch;                /* of the last use (clone.h) */
    atomic_uint_least64_t used_by; /* the number of the thread (thread.h) that uses the reader; 0: none does */
};

/*
 * A function that uses a reader. If the process forks meanwhile, the child runs it again, for all of its output; if the
 * machine is copied meanwhile, each copy does.
 */
typedef enum drng_result drng_reader_work(void *arg, struct drng_seed_reader *reader);

/*
 * Runs `work` on the reader. If the reader is in use, or its lock is waited for, this is a signal handler, and `work`
 * runs on a reader on the stack. If the process forked meanwhile, the child runs `work` again, and if the machine was
 * copied, each copy does. The caller holds the lock if threads share the reader.
 */
enum drng_result drng_shared_reader_run(struct drng_shared_reader *shared, drng_reader_work *work, void *arg);

#endif
