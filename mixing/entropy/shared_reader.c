#include "mixing/entropy/shared_reader.h"

#include "mixing/machine/clone.h"
#include "mixing/memory/wipe.h"

static enum drng_result run_apart(drng_reader_work *work, void *arg)
{
    struct drng_seed_reader reader = {0};
    const enum drng_result status = work(arg, &reader);
    drng_wipe(&reader, sizeof(reader));
    return status;
}

/* A copy of the machine has the same words and the same key in its reader. */
static void leave_epoch(struct drng_shared_reader *shared, uint64_t epoch)
{
    if (shared->epoch != epoch) {
        drng_wipe(&shared->slot->reader, sizeof(shared->slot->reader));
        shared->epoch = epoch;
    }
}

static enum drng_result run_once(struct drng_shared_reader *shared, uint64_t epoch, drng_reader_work *work, void *arg)
{
    const uint64_t generation = drng_fork_generation();
    if (atomic_load_explicit(&shared->busy_in, memory_order_relaxed) == generation ||
        drng_lock_is_waited_for(&shared->slot->lock)) {
        return run_apart(work, arg);
    }
    atomic_store_explicit(&shared->busy_in, generation, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    leave_epoch(shared, epoch);
    const enum drng_result status = work(arg, &shared->slot->reader);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&shared->busy_in, 0, memory_order_relaxed);
    return status;
}

enum drng_result drng_shared_reader_run(struct drng_shared_reader *shared, drng_reader_work *work, void *arg)
{
    for (;;) {
        const uint64_t epoch = drng_epoch();
        const enum drng_result status = run_once(shared, epoch, work, arg);
        if (drng_epoch_is_still(epoch)) {
            return status;
        }
        /*
         * Holds words and a key of two processes, or of the original and the copy. The epoch does not tell: a signal
         * handler that forked may have used the reader in the child before this.
         */
        drng_wipe(&shared->slot->reader, sizeof(shared->slot->reader));
    }
}
