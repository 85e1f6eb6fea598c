#include "mixing/memory/lock.h"

#include <stdint.h>

#include "mixing/memory/cancel.h"

/*
 * The locks that this thread holds or waits for, and its cancellation state. Thread-local memory is not wiped in a
 * child of fork(), but the locks themselves are: an entry counts only in the generation in which it was made.
 *
 * A signal handler may lock and unlock at any instruction here. It leaves `depth` and the entries below `depth` as it
 * found them. So each step reserves an entry before it fills the entry, and reads what it needs before it releases the
 * entry. The fences keep the compiler from reordering these steps.
 */
static _Thread_local struct {
    unsigned depth;
    struct drng_cancel cancel; /* the caller's, valid while depth > 0 or cancel_is_owed */
    bool cancel_is_owed; /* a fork interrupted the code that disabled cancellation, so that code may never restore it */
    struct held {
        const struct drng_lock *lock; /* NULL: the entry is reserved and not filled yet */
        uint64_t generation;          /* 0: the entry is reserved and not filled yet */
        bool shared;                  /* an entry before this one holds the lock */
    } held[DRNG_LOCK_DEPTH];
} mine;

static void keep_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* Whether the lock was taken in this process. In a child that was forked since, the lock has been wiped and is free. */
static bool is_held(const struct held *held, const struct drng_lock *lock)
{
    return held->lock == lock && drng_fork_is_still(held->generation);
}

static bool is_mine(const struct drng_lock *lock)
{
    for (unsigned i = 0; i < mine.depth; i++) {
        if (is_held(&mine.held[i], lock)) {
            return true;
        }
    }
    return false;
}

/* An entry that is reserved and not filled counts: a signal handler has interrupted note(). */
bool drng_lock_is_any_mine(void)
{
    for (unsigned i = 0; i < mine.depth; i++) {
        const uint64_t generation = mine.held[i].generation;
        if (generation == 0 || drng_fork_is_still(generation)) {
            return true;
        }
    }
    return false;
}

/*
 * Removes the entries of an ancestor process. They are left when a signal handler forks: in the child the locks are
 * free, and the interrupted code may never run to its unlock.
 */
static void drop_stale(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < mine.depth; i++) {
        if (mine.held[i].generation == 0 || drng_fork_is_still(mine.held[i].generation)) {
            mine.held[kept++] = mine.held[i];
        }
    }
    if (kept < mine.depth) {
        mine.cancel_is_owed = true;
        for (unsigned i = kept; i < mine.depth; i++) {
            mine.held[i] = (struct held){.lock = NULL};
        }
        keep_order();
        mine.depth = kept;
        keep_order();
    }
}

/* Reserves an entry, disables cancellation, and fills the entry. */
static void note(const struct drng_lock *lock, bool shared)
{
    const uint64_t generation = drng_fork_generation();
    const struct drng_cancel cancel = drng_cancel_disable();
    const unsigned at = mine.depth;
    mine.depth = at + 1;
    keep_order();
    if (at == 0 && !mine.cancel_is_owed) {
        mine.cancel = cancel;
    }
    mine.held[at].generation = generation;
    mine.held[at].shared = shared;
    keep_order();
    mine.held[at].lock = lock;
    keep_order();
}

/*
 * The last entry of this lock, or `depth` if there is none. libcrypto does not unlock in the reverse order of locking.
 */
static unsigned find(const struct drng_lock *lock)
{
    for (unsigned i = mine.depth; i-- > 0;) {
        if (mine.held[i].lock == lock) {
            return i;
        }
    }
    return mine.depth;
}

/*
 * If the process forked between note() and here, this is the child, and the lock was wiped. If the mutex was taken
 * after the fork, the child holds it, and trylock changes nothing; if before, trylock takes it now.
 */
static void take_if_wiped(struct drng_lock *lock)
{
    unsigned i = find(lock);
    while (i == mine.depth || !drng_fork_is_still(mine.held[i].generation)) {
        drop_stale();
        note(lock, false);
        (void)pthread_mutex_trylock(&lock->mutex);
        i = find(lock);
    }
}

bool drng_lock(struct drng_lock *lock)
{
    drop_stale();
    if (mine.depth == DRNG_LOCK_DEPTH || is_mine(lock)) {
        return false;
    }
    note(lock, false);
    (void)pthread_mutex_lock(&lock->mutex);
    take_if_wiped(lock);
    return true;
}

bool drng_lock_or_share(struct drng_lock *lock)
{
    const bool shared = is_mine(lock);
    if (!shared) {
        return drng_lock(lock);
    }
    if (mine.depth == DRNG_LOCK_DEPTH) {
        return false;
    }
    note(lock, true);
    return true;
}

static void cross_out(unsigned i)
{
    for (; i + 1 < mine.depth; i++) {
        mine.held[i] = mine.held[i + 1];
    }
    mine.held[i] = (struct held){.lock = NULL};
    const struct drng_cancel cancel = mine.cancel;
    keep_order();
    mine.depth = i;
    keep_order();
    if (i == 0) {
        mine.cancel_is_owed = false;
        drng_cancel_restore(cancel);
    }
}

void drng_unlock(struct drng_lock *lock)
{
    const unsigned i = find(lock);
    if (i == mine.depth) {
        return;
    }
    if (!mine.held[i].shared && is_held(&mine.held[i], lock)) {
        (void)pthread_mutex_unlock(&lock->mutex);
    }
    keep_order();
    cross_out(i);
}
