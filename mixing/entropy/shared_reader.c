#include "mixing/entropy/shared_reader.h"

#include "mixing/machine/clone.h"
#include "mixing/memory/thread.h"
#include "mixing/memory/wipe.h"

static enum drng_result run_apart(drng_reader_work *work, void *arg)
{
    struct drng_seed_reader reader = {0};
    const enum drng_result status = work(arg, &reader);
    drng_wipe(&reader, sizeof(reader));
    return status;
}

/* A child, or a copy of the machine, has words and a key of its original in its reader. */
static void leave_epoch(struct drng_shared_reader *shared, uint64_t epoch)
{
    if (shared->epoch != epoch) {
        drng_wipe(&shared->slot->reader, sizeof(shared->slot->reader));
        shared->epoch = epoch;
    }
}

static enum drng_result run_once(struct drng_shared_reader *shared, uint64_t epoch, drng_reader_work *work, void *arg)
{
    const uint64_t self = drng_this_thread();
    if (atomic_load_explicit(&shared->used_by, memory_order_relaxed) == self ||
        drng_lock_is_waited_for(&shared->slot->lock)) {
        return run_apart(work, arg);
    }
    atomic_store_explicit(&shared->used_by, self, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    leave_epoch(shared, epoch);
    const enum drng_result status = work(arg, &shared->slot->reader);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&shared->used_by, 0, memory_order_relaxed);
    return status;
}

enum drng_result drng_shared_reader_run(struct drng_shared_reader *shared, drng_reader_work *work, void *arg)
{
    uint64_t epoch = 0;
    enum drng_result status = DRNG_OK;
    do {
        epoch = drng_epoch();
        status = run_once(shared, epoch, work, arg);
    } while (!drng_epoch_is_still(epoch));
    return status;
}
