#include "mixing/entropy/guard.h"

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

/* The thread whose signal handler forked this process in the middle of a call; 0: none. */
static atomic_uintptr_t interrupted;

static void in_child(void)
{
    atomic_store(&interrupted, drng_inside.generation != 0 ? (uintptr_t)pthread_self() : 0);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

bool drng_place_make(struct drng_place *place, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_uint_least64_t last; /* a child counts on, so no process has two objects of one number */
    (void)pthread_once(&once, watch_forks);
    struct drng_guarded *slot = drng_secmem_alloc(size);
    if (slot == NULL) {
        return false;
    }
    place->object = (struct drng_object){drng_fork_token(), atomic_fetch_add(&last, 1) + 1};
    place->size = size;
    point_to(place, slot);
    return true;
}

/* The place has a new slot. The old one is not freed: a call has its address, and wipes it when it is done. */
static struct drng_guarded *leave_slot(struct drng_place *place, struct drng_guarded *old)
{
    struct drng_guarded *slot = drng_secmem_alloc(place->size);
    if (slot != NULL) {
        slot->generation = drng_fork_generation();
        drng_secmem_name(old, (struct drng_object){0, 0});
        point_to(place, slot);
        old->left = (uint16_t)place->size;
        atomic_thread_fence(memory_order_seq_cst);
        drng_guard_wipe(old, place->size);
    }
    return slot;
}

/*
 * What an ancestor has made is this process's, too, at the same address. A slot of a sibling's is not. The interrupted
 * thread itself knows whether a call is below it: drng_guard_take().
 */
struct drng_guarded *drng_place_own(struct drng_place *place)
{
    struct drng_guarded *slot = drng_secmem_find(place->object);
    const uintptr_t below = atomic_load(&interrupted);
    if (slot != NULL && below != 0 && below != (uintptr_t)pthread_self() &&
        slot->generation != drng_fork_generation()) {
        return leave_slot(place, slot);
    }
    if (slot == NULL) {
        slot = drng_secmem_alloc(place->size);
        drng_secmem_name(slot, place->object);
    } else if (slot == place->slot) {
        atomic_store(&place->owner, drng_fork_token());
    }
    return slot;
}

void drng_place_free(struct drng_place *place)
{
    struct drng_guarded *slot = place->slot != NULL ? drng_secmem_find(place->object) : NULL;
    if (slot != NULL) {
        (void)pthread_mutex_destroy(&slot->lock.mutex); /* the slot will be another object's, with a lock of its own */
    }
    drng_secmem_free(slot, place->size);
    place->slot = NULL;
}

/* ---- The guard ---- */

/* In an epoch that has ended meanwhile nothing starts over: a call further up on this stack may have done so already.
 */
struct drng_guarded *drng_guard_start_over(const struct drng_guard *guard, struct drng_guarded *slot, size_t size,
                                           bool locking)
{
    if (drng_epoch() != guard->epoch) {
        drng_guard_give_back(slot, locking);
        return NULL;
    }
    drng_guard_wipe(slot, size);
    slot->generation = guard->generation;
    slot->epoch = guard->epoch;
    return slot;
}

bool drng_guard_replace(const struct drng_guard *guard, struct drng_place *place)
{
    struct drng_guarded *old = drng_place_slot(place, guard->token);
    if (old != NULL && old->generation == guard->generation) {
        return true;
    }
    return old != NULL && leave_slot(place, old) != NULL;
}
