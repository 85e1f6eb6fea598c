#include "mixing/memory/lock.h"

#include <stdint.h>

/*
 * What this thread holds, or waits for. In the thread's own memory, which a child of fork() keeps: there the locks are
 * wiped, and the generation tells.
 *
 * A signal handler may take and give back locks at any instruction here. It leaves `depth` and the entries below it as
 * it found them, so each step is whole if it reserves its entry before it fills it, and reads what it needs before it
 * gives the entry up. The fences keep the compiler to that order.
 */
static _Thread_local struct {
    unsigned depth;
    int cancel_state;    /* the caller's, while depth > 0 or it is owed */
    bool cancel_is_owed; /* what disabled it was interrupted by a fork, and is not to be relied on to give it back */
    struct held {
        const struct drng_lock *lock; /* NULL: reserved and not filled yet */
        uint64_t generation;          /* 0: reserved and not filled yet, too */
        bool shared;                  /* the entry before it holds the lock */
    } held[DRNG_LOCK_DEPTH];
} mine;

static void keep_order(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* Taken in this process: in a child that was forked meanwhile the lock has been wiped, and is free. */
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

/*
 * Forgets what an ancestor process held when a signal handler forked: this is the child, the locks are free, and it may
 * never come back to the code that was interrupted.
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

/* Reserves an entry and fills it. */
static void note(const struct drng_lock *lock, bool shared)
{
    int cancel_state = PTHREAD_CANCEL_ENABLE;
    const uint64_t generation = drng_fork_generation();
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    const unsigned at = mine.depth;
    mine.depth = at + 1;
    keep_order();
    if (at == 0 && !mine.cancel_is_owed) {
        mine.cancel_state = cancel_state;
    }
    mine.held[at].generation = generation;
    mine.held[at].shared = shared;
    keep_order();
    mine.held[at].lock = lock;
    keep_order();
}

/* The last entry of this lock, or `depth`. libcrypto gives its locks back in the order that suits it. */
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
 * The process forked between the note and here, and this is the child: it has the lock if it took it after the fork,
 * and takes it now if it took it before, since it has been wiped.
 */
static void settle(struct drng_lock *lock)
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
    settle(lock);
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
    const int cancel_state = mine.cancel_state;
    keep_order();
    mine.depth = i;
    keep_order();
    if (i == 0) {
        int unused = 0;
        mine.cancel_is_owed = false;
        (void)pthread_setcancelstate(cancel_state, &unused);
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
