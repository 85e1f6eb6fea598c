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
 *
 * If the handler forks, its child goes on at the interrupted instruction, too, and other handlers may come there. So
 * they find `at_work` and `waiting` as the parent's call left them, in whatever generation.
 */
static _Thread_local struct {
    unsigned depth;
    unsigned at_work;          /* calls that are changing the list of entries, one interrupting the other */
    struct drng_cancel cancel; /* the caller's, valid while depth > 0 or cancel_is_owed */
    bool cancel_is_owed; /* a fork interrupted the code that disabled cancellation, so that code may never restore it */
    struct held {
        const struct drng_lock *lock; /* NULL: the entry is reserved and not filled yet */
        uint64_t generation;          /* 0: the entry is reserved and not filled yet */
        bool shared;                  /* an entry before this one holds the lock */
        bool waiting;                 /* drng_lock() is at work: it may have taken the mutex, or not yet */
    } held[DRNG_LOCK_DEPTH];
} mine;

static void keep_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

static void begin_work(void)
{
    mine.at_work++;
    keep_order();
}

static void end_work(void)
{
    keep_order();
    mine.at_work--;
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

bool drng_lock_is_waited_for(const struct drng_lock *lock)
{
    for (unsigned i = 0; i < mine.depth; i++) {
        if (mine.held[i].waiting && mine.held[i].lock == lock) {
            return true;
        }
    }
    return false;
}

/*
 * Removes the entries of an ancestor process. They are left when a signal handler forks: in the child the locks are
 * free, and the interrupted code may never run to its unlock. A handler removes none under a call that is changing the
 * list: that call knows its entries by their places.
 */
static void drop_stale(void)
{
    unsigned kept = 0;
    if (mine.at_work > 0) {
        return;
    }
    begin_work();
    for (unsigned i = 0; i < mine.depth; i++) {
        if (drng_fork_is_still(mine.held[i].generation)) {
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
    }
    end_work();
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
    mine.held[at].waiting = !shared;
    keep_order();
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
    struct held *held = &mine.held[find(lock)];
    while (!drng_fork_is_still(held->generation)) {
        held->generation = drng_fork_generation();
        keep_order();
        (void)pthread_mutex_trylock(&lock->mutex);
    }
    keep_order();
    held->waiting = false;
}

/* A handler leaves what is owed to the call under it, which may already have disabled cancellation for itself. */
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
    if (i == 0 && !(mine.cancel_is_owed && mine.at_work > 1)) {
        mine.cancel_is_owed = false;
        drng_cancel_restore(cancel);
    }
}

/* A handler must not wait for a mutex that the drng_lock() under it may have taken. False: it has. */
static bool take(struct drng_lock *lock, bool may_wait)
{
    note(lock, false);
    if (may_wait) {
        (void)pthread_mutex_lock(&lock->mutex);
    } else if (pthread_mutex_trylock(&lock->mutex) != 0) {
        cross_out(find(lock));
        return false;
    }
    take_if_wiped(lock);
    return true;
}

bool drng_lock(struct drng_lock *lock)
{
    drop_stale();
    if (mine.depth == DRNG_LOCK_DEPTH || is_mine(lock)) {
        return false;
    }
    begin_work();
    const bool taken = take(lock, !drng_lock_is_waited_for(lock));
    end_work();
    return taken;
}

bool drng_lock_or_share(struct drng_lock *lock)
{
    if (!is_mine(lock) && drng_lock(lock)) {
        return true;
    }
    if (mine.depth == DRNG_LOCK_DEPTH) {
        return false;
    }
    begin_work();
    note(lock, true);
    end_work();
    return true;
}

void drng_unlock(struct drng_lock *lock)
{
    begin_work();
    const unsigned i = find(lock);
    if (i < mine.depth && !mine.held[i].shared && is_held(&mine.held[i], lock)) {
        (void)pthread_mutex_unlock(&lock->mutex);
    }
    keep_order();
    if (i < mine.depth) {
        cross_out(i);
    }
    end_work();
}
