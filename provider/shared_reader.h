/* shared_reader.h - a reader of seeds that threads share, and that forks and signal handlers may interrupt. */

#ifndef DRNG_SHARED_READER_H
#define DRNG_SHARED_READER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mixing/entropy/seed.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/secmem.h"

/* In a slot, so a forked child finds the lock free and the reader fresh. */
struct drng_reader_slot {
    struct drng_lock lock;
    struct drng_seed_reader reader;
};
_Static_assert(sizeof(struct drng_reader_slot) <= DRNG_SLOT_SIZE, "a seed reader outgrew its slot");

struct drng_shared_reader {
    struct drng_reader_slot *slot;
    /* The generation (fork.h) in which it is being read from: who sees it is a signal handler that interrupted that. */
    atomic_uint_least64_t busy_in;
};

/* Work with a reader. What it made before a fork is made again. */
typedef enum drng_result drng_reader_work(void *arg, struct drng_seed_reader *reader);

/*
 * Runs `work` on the reader, or on one that lives on the stack where the reader is in the middle of something; once
 * more if the process forked meanwhile and this is the child. Whoever calls holds the lock, if the reader is shared.
 */
enum drng_result drng_shared_reader_run(struct drng_shared_reader *shared, drng_reader_work *work, void *arg);

#endif
