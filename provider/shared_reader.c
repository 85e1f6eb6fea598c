#include "provider/shared_reader.h"

#include "mixing/fork.h"
#include "mixing/wipe.h"

static enum drng_status run_apart(drng_reader_work *work, void *arg)
{
    struct drng_seed_reader reader = {0};
    const enum drng_status status = work(arg, &reader);
    drng_wipe(&reader, sizeof(reader));
    return status;
}

static enum drng_status run_once(struct drng_shared_reader *shared, drng_reader_work *work, void *arg)
{
    if (atomic_load_explicit(&shared->busy, memory_order_relaxed)) {
        return run_apart(work, arg);
    }
    atomic_store_explicit(&shared->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    const enum drng_status status = work(arg, &shared->reader);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&shared->busy, false, memory_order_relaxed);
    return status;
}

enum drng_status drng_shared_reader_run(struct drng_shared_reader *shared, drng_reader_work *work, void *arg)
{
    for (;;) {
        const uint64_t generation = drng_fork_generation();
        const enum drng_status status = run_once(shared, work, arg);
        if (drng_fork_is_still(generation)) {
            return status;
        }
        /* Words and key of two processes. */
        drng_wipe(&shared->reader, sizeof(shared->reader));
    }
}
