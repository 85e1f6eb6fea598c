#include "provider/shared_reader.h"

#include "mixing/memory/fork.h"
#include "mixing/memory/wipe.h"

static enum drng_result run_apart(drng_reader_work *work, void *arg)
{
    struct drng_seed_reader reader = {0};
    const enum drng_result status = work(arg, &reader);
    drng_wipe(&reader, sizeof(reader));
    return status;
}

static enum drng_result run_once(struct drng_shared_reader *shared, uint64_t generation, drng_reader_work *work,
                                 void *arg)
{
    if (atomic_load_explicit(&shared->busy_in, memory_order_relaxed) == generation) {
        return run_apart(work, arg);
    }
    atomic_store_explicit(&shared->busy_in, generation, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    const enum drng_result status = work(arg, &shared->slot->reader);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&shared->busy_in, 0, memory_order_relaxed);
    return status;
}

enum drng_result drng_shared_reader_run(struct drng_shared_reader *shared, drng_reader_work *work, void *arg)
{
    for (;;) {
        const uint64_t generation = drng_fork_generation();
        const enum drng_result status = run_once(shared, generation, work, arg);
        if (drng_fork_is_still(generation)) {
            return status;
        }
        /* Holds words and a key from two processes. */
        drng_wipe(&shared->slot->reader, sizeof(shared->slot->reader));
    }
}
