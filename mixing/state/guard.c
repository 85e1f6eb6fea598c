#include "mixing/state/guard.h"

_Thread_local struct drng_inside drng_inside;

/* ---- Places ---- */

/* Another process that reads meanwhile sees that the place is not its own, or the slot that was. */
static void point_to(struct drng_place *place, struct drng_guarded *slot)
{
    drng_secmem_name(slot, place->object);
    atomic_store(&place->owner, 0);
    atomic_store(&place->slot, slot);
    atomic_store(&place->owner, drng_fork_token());
}

bool drng_place_make(struct drng_place *place, size_t size)
{
    static atomic_uint_least64_t last; /* a child counts on, so no process has two objects of one number */
    struct drng_guarded *slot = drng_secmem_alloc(size);
    if (slot == NULL) {
        return false;
    }
    place->object = (struct drng_object){drng_fork_token(), atomic_fetch_add(&last, 1) + 1};
    place->size = size;
    point_to(place, slot);
    return true;
}

/* What an ancestor has made is this process's, too, at the same address. A slot of a sibling's is not. */
struct drng_guarded *drng_place_own(struct drng_place *place)
{
    struct drng_guarded *slot = drng_secmem_find(place->object);
    if (slot == NULL) {
        slot = drng_secmem_alloc(place->size);
        drng_secmem_name(slot, place->object);
    } else if (slot == place->slot) {
        atomic_store(&place->owner, drng_fork_token());
    }
    return slot;
}

/* Where this process is the owner, the slot is its own: point_to() says so last. */
void drng_place_free(struct drng_place *place)
{
    struct drng_guarded *slot = place->slot;
    if (slot != NULL && place->owner != drng_fork_token()) {
        slot = drng_secmem_find(place->object);
    }
    if (slot != NULL) {
        (void)pthread_mutex_destroy(&slot->lock.mutex); /* the slot will be another object's, with a lock of its own */
    }
    drng_secmem_free(slot, place->size);
    place->slot = NULL;
}

/* ---- The guard ---- */

/* In an epoch that has ended meanwhile nothing starts over: a call further up on this stack may have done so already.
 */
struct drng_guarded *drng_guard_start_over(const struct drng_guard *guard, const struct drng_place *place,
                                           struct drng_guarded *slot, bool locking)
{
    if (drng_epoch() != guard->epoch) {
        drng_guard_give_back(guard, place, slot, locking);
        return NULL;
    }
    drng_guard_wipe(slot, place->size);
    slot->generation = guard->generation;
    slot->epoch = guard->epoch;
    return slot;
}

/* The old slot is not freed: the call below this one has its address, and wipes it when it gives it back. */
bool drng_guard_replace(const struct drng_guard *guard, struct drng_place *place)
{
    struct drng_guarded *old = drng_place_slot(place, drng_fork_token());
    if (old != NULL && old->generation == guard->generation) {
        return true;
    }
    struct drng_guarded *slot = old != NULL ? drng_secmem_alloc(place->size) : NULL;
    if (slot == NULL) {
        return false;
    }
    slot->generation = guard->generation;
    drng_secmem_name(old, (struct drng_object){0, 0});
    point_to(place, slot);
    drng_guard_wipe(old, place->size);
    return true;
}
