/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - is this state still mine? One call of a thread at a time, in one process, on one machine.
 *
 * A generator that two parties draw from unknowingly gives both the same bytes. Three things make two of one, and none
 * of them tells the program:
 *
 *   fork     fork() or clone() copies all memory into a child, at any instruction of any thread.
 *   copy     A virtual machine is started twice from one snapshot, or restored.
 *   signal   A handler comes in the middle of a thread's draw, and draws.
 *
 * Against the first two, memory has an epoch (clone.h): a number that is another one in every process and after every
 * copy. It is the sum of the generation of this process (fork.h) and of the copies noticed so far. Secrets lie in slots
 * (secmem.h), which are all zero in a child. A slot notes the epoch in which its contents were made. A call notes the
 * epoch when it begins, starts a slot over that was made in another one, and looks once more when its work is done: if
 * the epoch has changed, it wipes what it has made, and works again from the beginning. So each output is made of state
 * that is this process's alone, or was complete before the fork or copy came, as any other memory of the program. What
 * remains are the last instructions of a call, behind its last look: a fork by a signal handler there copies the output
 * to a child that has not returned from the call yet.
 *
 * Against the third, a thread notes what it is in the middle of (drng_inside), in memory that a fork does not change.
 * A thread that is inside a call may not make another one: a handler that draws is refused. It could not be made to
 * wait, since it would wait for the call that it interrupted. No error is raised for it, since raising allocates. The
 * same holds in a child that the handler forks: its thread is inside the parent's call still, and libcrypto and
 * malloc() may be, too. It may return into the call, which then works again for the child, or exec. A handler must
 * start no threads that draw, either.
 *
 * One exception: while a call is in a function of another provider's generator, its parent, that function may call a
 * generator of drng's in its turn. A handler cannot be told from it, and is let in, in a child that it forks there,
 * too. So what such a parent gives is used only if the epoch is still that of the call which asked.
 *
 * Threads that share a slot wait for its lock. An object has a place, which leads to its slot in this process.
 */

#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/wipe.h"
#include "mixing/result.h"
#include "mixing/state/clone.h"
#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"

/* What this thread is in the middle of. */
enum drng_inside {
    DRNG_OUTSIDE,
    DRNG_INSIDE,    /* a call, which may be in the C library's allocator */
    DRNG_CALLS_OUT, /* a function of a foreign parent, which may call a generator of drng's in its turn */
};

extern _Thread_local enum drng_inside drng_inside;

/* Notes another thing, and returns what was noted. */
static inline enum drng_inside drng_guard_note(enum drng_inside now)
{
    const enum drng_inside before = drng_inside;
    atomic_signal_fence(memory_order_seq_cst);
    drng_inside = now;
    atomic_signal_fence(memory_order_seq_cst);
    return before;
}

/* One call, on the caller's stack. */
struct drng_guard {
    uint64_t epoch;          /* in which this attempt began */
    enum drng_inside before; /* what the thread had noted, to be noted again when the call ends */
};

/* False: this thread is inside a call, and the caller is a signal handler that interrupted it, in whatever process. */
static inline bool drng_guard_enter(struct drng_guard *guard)
{
    if (__builtin_expect(drng_inside != DRNG_OUTSIDE && drng_inside != DRNG_CALLS_OUT, 0)) {
        return false;
    }
    guard->before = drng_guard_note(DRNG_INSIDE);
    guard->epoch = drng_epoch();
    return true;
}

/* Whether the epoch is that of the attempt still. If it is not, what the attempt has made is not to be used. */
static inline bool drng_guard_is_mine(const struct drng_guard *guard)
{
    return __builtin_expect(drng_epoch() == guard->epoch, 1);
}

/* ---- Slots, and the places where objects have them ---- */

/*
 * The head of a slot that calls take. Whoever makes the slot leaves it all zero. What is behind the head is all zero
 * when the slot is taken for the first time in an epoch.
 */
struct drng_guarded {
    struct drng_lock lock; /* its holder: the call that has not given it back; see drng_guard_lock() */
    uint64_t epoch;        /* in which the rest was made; 0: in none */
};

/* Wipes what is behind the head of a slot of that size. */
static inline void drng_guard_wipe(struct drng_guarded *slot, size_t size)
{
    drng_wipe((uint8_t *)slot + sizeof(*slot), size - sizeof(*slot));
}

/*
 * Where an object has its slot. The object may lie in memory that processes share: Kamailio and OpenSIPS put
 * libcrypto's heap there, and a worker may meet a generator that another worker has made. Slots never lie there. So
 * `slot` is that of the process which made the object, and of its descendants, at the same address; every other process
 * has none, and is refused. secmem.h tells them apart by the object's number.
 */
struct drng_place {
    struct drng_guarded *slot;   /* NULL: there is none */
    atomic_uint_least64_t owner; /* token (fork.h) of the last process in which `slot` was found to be the object's */
    size_t size;                 /* of the slot: DRNG_SLOT_SIZE or DRNG_WIDE_SLOT_SIZE */
    struct drng_object object;
};

/* Makes a slot of DRNG_SLOT_SIZE or DRNG_WIDE_SLOT_SIZE bytes. False: no memory. */
bool drng_place_make(struct drng_place *place, size_t size);

/* Wipes and frees this process's slot, and none of another's. Does nothing after a make() that failed. */
void drng_place_free(struct drng_place *place);

/* This process's slot where the owner is another process. NULL: the object was made by none of this one's ancestors. */
struct drng_guarded *drng_place_own(struct drng_place *place);

/* Why drng_guard_take() returned NULL in an epoch that goes on: DRNG_BUSY or DRNG_OTHER_PROCESS. */
enum drng_result drng_place_denial(const struct drng_place *place);

/* ---- Calls ---- */

/* What a call does where another thread has the slot. */
enum drng_locking {
    DRNG_ALONE, /* the program sees to it that none has */
    DRNG_WAITS, /* for the slot's lock */
    DRNG_TRIES, /* it is denied, and goes to another slot */
};

/*
 * A lock that no thread waits for needs no mutex: one exchange and one store, which are half of its cost. Nobody asks
 * who its holder is, since asking for pthread_self() is a call. Without a lock a holder of 1 keeps out a call that a
 * foreign parent lets in while the one below it has the slot.
 */
static inline bool drng_guard_lock(const struct drng_guard *guard, struct drng_guarded *slot, enum drng_locking locking)
{
    if (locking == DRNG_TRIES) {
        return atomic_exchange_explicit(&slot->lock.holder, 1, memory_order_acquire) == 0;
    }
    if (locking == DRNG_WAITS) {
        return drng_lock(&slot->lock);
    }
    if (guard->before == DRNG_CALLS_OUT && atomic_load_explicit(&slot->lock.holder, memory_order_relaxed) != 0) {
        return false;
    }
    atomic_store_explicit(&slot->lock.holder, 1, memory_order_relaxed);
    return true;
}

/* In a child that was forked since the slot was taken it changes nothing: there the lock is free. */
static inline void drng_guard_unlock(struct drng_guarded *slot, enum drng_locking locking)
{
    if (__builtin_expect(locking == DRNG_WAITS, 0)) {
        drng_unlock(&slot->lock);
    } else {
        atomic_store_explicit(&slot->lock.holder, 0, memory_order_release);
    }
}

/* The slow path of drng_guard_take(). */
struct drng_guarded *drng_guard_start_over(struct drng_guard guard, const struct drng_place *place,
                                           struct drng_guarded *slot, enum drng_locking locking);

/*
 * Takes the slot of the place. NULL: this thread has the slot already, which only a chain of parents that leads back to
 * it can do, and without a lock only a foreign parent in it; or it tries, and another thread has the slot; or the
 * object is another process's; or the epoch is no longer the guard's, and the attempt will be made again.
 */
static inline struct drng_guarded *drng_guard_take(const struct drng_guard *guard, struct drng_place *place,
                                                   enum drng_locking locking)
{
    /* Where this process has no token yet, both may be 0: then there is no slot either. */
    const bool is_owner = atomic_load_explicit(&place->owner, memory_order_relaxed) ==
                          atomic_load_explicit(&drng_fork_page->token, memory_order_relaxed);
    struct drng_guarded *slot = __builtin_expect(is_owner, 1) ? place->slot : drng_place_own(place);
    if (__builtin_expect(slot == NULL, 0)) {
        return NULL;
    }
    if (__builtin_expect(!drng_guard_lock(guard, slot, locking), 0)) {
        return NULL;
    }
    return __builtin_expect(slot->epoch == guard->epoch, 1) ? slot
                                                            : drng_guard_start_over(*guard, place, slot, locking);
}

/*
 * If the slot is not `mine`, it is wiped: what the call has written there is of its parent's state. The caller asks
 * drng_guard_is_mine() when it has written last; a fork wipes whatever the slot itself could say.
 */
static inline void drng_guard_give_back(const struct drng_place *place, struct drng_guarded *slot,
                                        enum drng_locking locking, bool mine)
{
    if (!mine) {
        drng_guard_wipe(slot, place->size);
    }
    drng_guard_unlock(slot, locking);
}

/* What a call does with its slot. Run again, it finds the slot as the last complete call has left it, or all zero. */
typedef enum drng_result drng_guarded_work(void *call, struct drng_guarded *slot, const struct drng_guard *guard);

/*
 * Does the work with the slot of the place, until no fork or copy has come into it. DRNG_BUSY: refused. Without a slot
 * the result is drng_place_denial(). A call that waits is not cancelled: a handler may reach a cancellation point, and
 * the lock would stay held. A call that only tries may be: its slot stays taken then, and others use other slots.
 */
static inline __attribute__((always_inline)) enum drng_result drng_guard_run(struct drng_place *place,
                                                                             enum drng_locking locking,
                                                                             drng_guarded_work *work, void *call)
{
    struct drng_guard guard;
    int cancel = PTHREAD_CANCEL_ENABLE;
    if (!drng_guard_enter(&guard)) {
        return DRNG_BUSY;
    }
    for (;;) {
        if (locking == DRNG_WAITS) {
            (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        }
        struct drng_guarded *slot = drng_guard_take(&guard, place, locking);
        const enum drng_result result =
            __builtin_expect(slot != NULL, 1) ? work(call, slot, &guard) : drng_place_denial(place);
        if (__builtin_expect(slot != NULL, 1)) {
            drng_guard_unlock(slot, locking); /* if it is not mine, the next attempt wipes it */
        }
        if (locking == DRNG_WAITS) {
            (void)pthread_setcancelstate(cancel, &cancel);
        }
        if (drng_guard_is_mine(&guard)) { /* as late as it can be: behind it a fork copies the output */
            (void)drng_guard_note(guard.before);
            return result;
        }
        guard.epoch = drng_epoch();
    }
}

/*
 * The same for work that takes and gives back slots itself, piece by piece, so that threads take turns. It may
 * allocate memory, and is not cancelled: a thread that ended in a source of seeds would leave a lock held.
 */
typedef enum drng_result drng_piecewise_work(void *call, const struct drng_guard *guard);

DRNG_MUST_CHECK enum drng_result drng_guard_run_piecewise(drng_piecewise_work *work, void *call);
