/*
 * guard.h - one request of a thread at a time, in one process and on one machine.
 *
 * Every call that draws, seeds or sets parameters runs between drng_guard_enter() and drng_guard_leave(), and takes
 * what it works on, a generator's state or a reader of seeds, by drng_guard_take(). These three answer all there is to
 * ask about threads, signals, forks and copies of the machine:
 *
 *   - A signal handler that draws while its thread draws is refused: enter() fails. It could not be made to wait, since
 *     it would wait for the call that it interrupted. While the thread is in a foreign parent's function, enter()
 *     cannot tell a handler from that parent's own draws, and lets both in.
 *   - Another thread waits for the lock of what it takes, if that is shared.
 *   - After a fork, or after the machine was copied, what is taken starts over: it is wiped before it is used. A call
 *     that a fork or a copy came into runs again from its beginning: leave() returns false.
 *
 * A signal handler may fork at any instruction of a call. Its child may draw in that handler, and may return into the
 * call or not. The call still has addresses of slots in its registers, and would write what it made of its parent's
 * state to them. So a handler in such a child leaves these slots to the call below it, and takes new ones. The call
 * wipes what it has written there. The handler must start no thread that draws: pthread_create() is not for handlers.
 */

#ifndef DRNG_GUARD_H
#define DRNG_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/wipe.h"
#include "mixing/state/clone.h"
#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"

/* What a thread notes of the call that it is in. In memory that a fork does not wipe. */
struct drng_inside {
    uint64_t generation; /* of the process in which it entered (fork.h); 0: the thread is in no call */
    bool calls_out;      /* it is in a function of a foreign parent, which may call a generator of drng's in its turn */
    bool allocates;      /* it may be in the C library's allocator */
};

extern _Thread_local struct drng_inside drng_inside;

/* One call, on the caller's stack. */
struct drng_guard {
    uint64_t epoch;            /* clone.h: in which this attempt began */
    uint64_t generation;       /* fork.h: the same */
    struct drng_inside before; /* what the thread had noted */
};

/*
 * Begins an attempt. Note and epoch must be of one process: in a child that is forked between them, handlers would take
 * the slot of this attempt, which is not noted, for one that is left to a call of the parent's.
 */
static inline void drng_guard_begin(struct drng_guard *guard)
{
    do {
        guard->generation = drng_fork_generation();
        drng_inside = (struct drng_inside){.generation = guard->generation};
        atomic_signal_fence(memory_order_seq_cst);
        guard->epoch = drng_epoch();
    } while (__builtin_expect(drng_fork_generation() != guard->generation, 0));
}

/* False: this thread is in a call already, so the caller is a signal handler that interrupted it. */
static inline bool drng_guard_enter(struct drng_guard *guard)
{
    guard->before = drng_inside;
    if (__builtin_expect(guard->before.generation == drng_fork_generation() && !guard->before.calls_out, 0)) {
        return false;
    }
    drng_guard_begin(guard);
    return true;
}

/* Ends the call, whatever came between: of one that takes no slot. */
static inline void drng_guard_quit(const struct drng_guard *guard)
{
    atomic_signal_fence(memory_order_seq_cst);
    drng_inside = guard->before;
}

/* False: the process forked since the attempt began, and this is the child; or the machine was copied, and this is a
 * copy. What the attempt made is not to be used, and the next attempt has begun. */
static inline bool drng_guard_leave(struct drng_guard *guard)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(drng_epoch() == guard->epoch, 1)) {
        drng_inside = guard->before;
        return true;
    }
    drng_guard_begin(guard);
    return false;
}

/* Around each call of a foreign parent. */
static inline void drng_guard_calls_out(bool out)
{
    atomic_signal_fence(memory_order_seq_cst);
    drng_inside.calls_out = out;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Around what may allocate memory, or raise an error, which does. */
static inline void drng_guard_allocates(bool allocates)
{
    atomic_signal_fence(memory_order_seq_cst);
    drng_inside.allocates = allocates;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Whether a handler that is refused may raise an error. It might wait for a lock of the allocator's otherwise, which
 * its own thread holds. */
static inline bool drng_guard_may_raise(void)
{
    return !drng_inside.allocates && !drng_inside.calls_out;
}

/*
 * The head of a slot that calls take. Whoever makes the slot leaves it all zero. What is behind the head is all zero
 * when the slot is taken for the first time in an epoch.
 */
struct drng_guarded {
    struct drng_lock lock;
    uint64_t epoch;      /* in which the rest was made; 0: in none */
    uint64_t generation; /* in which the slot was last taken; 0: in none */
    bool taken;          /* by a call that has not given it back */
};

/*
 * Where an object has its slot. The object may lie in memory that processes share, as libcrypto's heap where a program
 * has put that there; slots never do. So `slot` is the slot of one process, and every other one has its own, which
 * drng_secmem_find() finds.
 */
struct drng_place {
    _Atomic(struct drng_guarded *) slot; /* in the process `owner` */
    atomic_uint_least64_t owner;         /* a token (fork.h); 0: none */
    size_t size;                         /* of the slot: DRNG_SLOT_SIZE or DRNG_WIDE_SLOT_SIZE */
    struct drng_object object;
};

/* Makes a slot of DRNG_SLOT_SIZE or DRNG_WIDE_SLOT_SIZE bytes. False: no memory. */
bool drng_place_make(struct drng_place *place, size_t size);

/* Wipes and frees this process's slot. Does nothing after a make() that failed, and where all is zero. */
void drng_place_free(struct drng_place *place);

/* The slow path of drng_place_slot(). */
struct drng_guarded *drng_place_own(struct drng_place *place);

/*
 * The slot of the process that has this token, which is made if there is none. NULL: no memory. The slot is read before
 * its owner: another process may change both meanwhile, and never makes this one the owner of its slot.
 */
static inline struct drng_guarded *drng_place_slot(struct drng_place *place, uint64_t token)
{
    struct drng_guarded *slot = atomic_load_explicit(&place->slot, memory_order_acquire);
    const uint64_t owner = atomic_load_explicit(&place->owner, memory_order_acquire);
    return __builtin_expect(owner == token, 1) ? slot : drng_place_own(place);
}

/* The slow path of drng_guard_take(). */
struct drng_guarded *drng_guard_start_over(const struct drng_guard *guard, const struct drng_place *place,
                                           struct drng_guarded *slot, bool locking);
bool drng_guard_replace(const struct drng_guard *guard, struct drng_place *place);

/*
 * Takes the slot of the place; if `locking`, waits for its lock. The place has another slot afterwards where a call of
 * an ancestor process may still write to the old one. NULL: this thread has the slot already, which only a chain of
 * parents that leads back to it can do; or this is no longer the epoch of the guard, and the attempt will be made
 * again; or there is no memory for another slot.
 */
static inline struct drng_guarded *drng_guard_take(const struct drng_guard *guard, struct drng_place *place,
                                                   bool locking)
{
    const uint64_t below = guard->before.generation;
    if (__builtin_expect(below != 0 && below != guard->generation, 0) && !drng_guard_replace(guard, place)) {
        return NULL;
    }
    struct drng_guarded *slot = drng_place_slot(place, drng_fork_token());
    if (__builtin_expect(slot == NULL, 0)) {
        return NULL;
    }
    /* In a child it may be the slot of a handler already, which would wait for its lock. */
    if (__builtin_expect(drng_fork_generation() != guard->generation, 0)) {
        return NULL;
    }
    if (locking ? !drng_lock(&slot->lock) : slot->taken && guard->before.calls_out) {
        return NULL;
    }
    slot->taken = true;
    return __builtin_expect(slot->epoch == guard->epoch, 1) ? slot
                                                            : drng_guard_start_over(guard, place, slot, locking);
}

/* Wipes what is behind the head of a slot of that size. */
static inline void drng_guard_wipe(struct drng_guarded *slot, size_t size)
{
    drng_wipe((uint8_t *)slot + sizeof(*slot), size - sizeof(*slot));
}

/*
 * In a child that was forked since the attempt began, the call has written what it made of its parent's state to a slot
 * that the kernel had wiped: that is wiped here. The guard tells, which lies on the stack: a second fork wipes whatever
 * the slot says of itself.
 */
static inline void drng_guard_give_back(const struct drng_guard *guard, const struct drng_place *place,
                                        struct drng_guarded *slot, bool locking)
{
    slot->taken = false;
    if (__builtin_expect(drng_fork_generation() != guard->generation, 0)) {
        drng_guard_wipe(slot, place->size);
    }
    if (locking) {
        drng_unlock(&slot->lock);
    }
}

#endif
