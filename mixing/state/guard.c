/* SPDX-License-Identifier: Apache-2.0 */
/* The slow paths of the guard: places of relatives, slots that start over, work in pieces. */

#include "mixing/state/guard.h"

_Thread_local enum drng_inside drng_inside;

/* ---- Places ---- */

/*
 * A handler that draws meanwhile is refused: it might wait for another thread, and that one for DRNG_LOCK_SLOTS. The
 * slot is stored last: in a child that another thread forks, the place is whole, or has none.
 */
bool drng_place_make(struct drng_place *place, size_t size)
{
    static atomic_uint_least64_t last; /* a child counts on, so no process has two objects of one number */
    const enum drng_inside before = drng_guard_note(DRNG_INSIDE);
    struct drng_guarded *slot = drng_secmem_alloc(size);
    if (slot != NULL) {
        place->size = size;
        place->object = (struct drng_object){drng_fork_token(), atomic_fetch_add(&last, 1) + 1};
        drng_secmem_name(slot, place->object);
        atomic_store(&place->owner, place->object.process);
    }
    atomic_signal_fence(memory_order_seq_cst);
    place->slot = slot;
    (void)drng_guard_note(before);
    return slot != NULL;
}

/* A descendant has the slot of its ancestor at the same address. To another process this address means nothing. */
struct drng_guarded *drng_place_own(struct drng_place *place)
{
    if (!drng_secmem_is(place->slot, place->object)) {
        return NULL;
    }
    atomic_store_explicit(&place->owner, drng_fork_token(), memory_order_relaxed);
    return place->slot;
}

enum drng_result drng_place_denial(const struct drng_place *place)
{
    return atomic_load(&place->owner) == drng_fork_token() ? DRNG_BUSY : DRNG_OTHER_PROCESS;
}

void drng_place_free(struct drng_place *place)
{
    struct drng_guarded *slot = place->slot != NULL ? drng_place_own(place) : NULL;
    if (slot != NULL) {
        (void)pthread_mutex_destroy(&slot->lock.mutex); /* the slot will be another object's, with a lock of its own */
    }
    drng_secmem_free(slot, place->size);
    place->slot = NULL;
}

/* ---- Calls ---- */

/* In an epoch that has ended nothing starts over: a call further up on this stack may have done so already. */
struct drng_guarded *drng_guard_start_over(struct drng_guard guard, const struct drng_place *place,
                                           struct drng_guarded *slot, enum drng_locking locking)
{
    if (!drng_guard_is_mine(&guard)) {
        drng_guard_give_back(place, slot, locking, true);
        return NULL;
    }
    drng_guard_wipe(slot, place->size);
    slot->epoch = guard.epoch;
    return slot;
}

enum drng_result drng_guard_run_piecewise(drng_piecewise_work *work, void *call)
{
    int cancel = PTHREAD_CANCEL_ENABLE;
    struct drng_guard guard;
    if (!drng_guard_enter(&guard)) {
        return DRNG_BUSY;
    }
    for (;;) {
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        const enum drng_result result = work(call, &guard);
        (void)pthread_setcancelstate(cancel, &cancel);
        if (drng_guard_is_mine(&guard)) {
            (void)drng_guard_note(guard.before);
            return result;
        }
        guard.epoch = drng_epoch();
    }
}
