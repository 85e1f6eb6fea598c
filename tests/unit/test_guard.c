/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard of calls, and its locks: what signal handlers, forks, copies of the machine and other threads find of them.
 *
 * What a signal handler would do is done here where it would come: in the middle of a call.
 */

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "mixing/state/guard.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { SECRET = 0xa5, CHAIN = 40 };

/* A slot of a generator's size, and what is behind its head. */
struct slot {
    struct drng_guarded guarded;
    uint8_t rest[DRNG_SLOT_SIZE - sizeof(struct drng_guarded)];
};

/* QEMU 7.2 begins a handler with a stack that is not aligned as the x86-64 ABI has it. */
#ifdef __x86_64__
#define HANDLER __attribute__((force_align_arg_pointer))
#else
#define HANDLER
#endif

static struct drng_place place;

static struct slot *new_slot(void)
{
    struct slot *slot = drng_secmem_alloc(DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
    return slot;
}

static void open_place(void)
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_TRUE_FATAL(drng_place_make(&place, DRNG_SLOT_SIZE));
}

static void close_place(void)
{
    drng_place_free(&place);
    drng_secmem_close();
}

static struct slot *take(const struct drng_guard *guard)
{
    return (struct slot *)(void *)drng_guard_take(guard, &place, DRNG_WAITS);
}

static void give_back(const struct drng_guard *guard, struct slot *slot)
{
    CU_ASSERT_PTR_NOT_NULL(slot);
    if (slot != NULL) {
        drng_guard_give_back(&place, &slot->guarded, DRNG_WAITS, drng_guard_is_mine(guard));
    }
}

/* As drng_guard_run() ends an attempt. False: the next one has begun. */
static bool leave(struct drng_guard *guard)
{
    if (drng_guard_is_mine(guard)) {
        (void)drng_guard_note(guard->before);
        return true;
    }
    guard->epoch = drng_epoch();
    return false;
}

static void fill(struct slot *slot)
{
    CU_ASSERT_PTR_NOT_NULL(slot);
    if (slot == NULL) {
        return;
    }
    memset(slot->rest, SECRET, sizeof(slot->rest));
}

static bool holds(const struct slot *slot, uint8_t byte)
{
    return slot != NULL && bytes_are(slot->rest, sizeof(slot->rest), byte);
}

/* As drng sees it: another change of the clock device's marker. */
static void copy_the_machine(void)
{
    atomic_fetch_add(&drng_clone_watch.count, 1);
    atomic_store(&drng_fork_page->epoch, 0); /* where there is a device nothing is noted */
}

static bool got; /* what another thread or a handler found out */

static void *try_lock(void *vlock)
{
    struct drng_lock *lock = vlock;
    got = pthread_mutex_trylock(&lock->mutex) == 0;
    if (got) {
        (void)pthread_mutex_unlock(&lock->mutex);
    }
    return NULL;
}

static void in_a_thread(void *(*work)(void *), void *arg)
{
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, work, arg), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
}

static bool is_free(struct drng_lock *lock)
{
    in_a_thread(try_lock, lock);
    return got;
}

/* ---- Locks ---- */

UNIT_TEST("a thread is refused what it holds")
{
    open_place();
    struct slot *other = new_slot();
    CU_ASSERT_TRUE(drng_lock(&place.slot->lock));
    CU_ASSERT_FALSE(drng_lock(&place.slot->lock));
    CU_ASSERT_TRUE(drng_lock(&other->guarded.lock));
    drng_unlock(&other->guarded.lock);
    CU_ASSERT_FALSE(is_free(&place.slot->lock));
    drng_unlock(&place.slot->lock);
    CU_ASSERT_TRUE(is_free(&place.slot->lock));
    CU_ASSERT_TRUE(drng_lock(&place.slot->lock));
    drng_unlock(&place.slot->lock);
    drng_secmem_free(other, DRNG_SLOT_SIZE);
    close_place();
}

static void *unlock(void *lock)
{
    drng_unlock(lock);
    return NULL;
}

UNIT_TEST("a lock that is not held cannot be given back")
{
    open_place();
    struct slot *other = new_slot();
    CU_ASSERT_TRUE(drng_lock(&place.slot->lock));
    drng_unlock(&other->guarded.lock);
    CU_ASSERT_FALSE(is_free(&place.slot->lock));
    in_a_thread(unlock, &place.slot->lock);
    CU_ASSERT_FALSE(is_free(&place.slot->lock));
    drng_unlock(&place.slot->lock);
    CU_ASSERT_TRUE(is_free(&place.slot->lock));
    drng_unlock(&place.slot->lock);
    CU_ASSERT_TRUE(is_free(&place.slot->lock));
    drng_secmem_free(other, DRNG_SLOT_SIZE);
    close_place();
}

/* Given back in the order in which they were taken, and then in the other one. */
UNIT_TEST("a chain has any length")
{
    struct slot *slots[CHAIN];
    open_place();
    for (unsigned i = 0; i < CHAIN; i++) {
        slots[i] = new_slot();
    }
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < CHAIN; i++) {
            CU_ASSERT_TRUE(drng_lock(&slots[i]->guarded.lock));
        }
        for (unsigned i = 0; i < CHAIN; i++) {
            CU_ASSERT_FALSE(drng_lock(&slots[i]->guarded.lock));
        }
        for (unsigned i = 0; i < CHAIN; i++) {
            struct drng_lock *lock = &slots[round == 0 ? i : CHAIN - 1 - i]->guarded.lock;
            CU_ASSERT_FALSE(is_free(lock));
            drng_unlock(lock);
            CU_ASSERT_TRUE(is_free(lock));
        }
    }
    for (unsigned i = 0; i < CHAIN; i++) {
        drng_secmem_free(slots[i], DRNG_SLOT_SIZE);
    }
    close_place();
}

enum { THREADS = 4, TURNS = 2000 };

static unsigned turns; /* guarded by the lock */

static void *take_turns(void *vlock)
{
    struct drng_lock *lock = vlock;
    for (unsigned i = 0; i < TURNS && drng_lock(lock); i++) {
        const unsigned seen = turns;
        turns = seen + 1;
        drng_unlock(lock);
    }
    return NULL;
}

UNIT_TEST("one thread at a time has the lock")
{
    pthread_t threads[THREADS];
    open_place();
    turns = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, take_turns, &place.slot->lock), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    CU_ASSERT_EQUAL(turns, THREADS * TURNS);
    close_place();
}

/* ---- Locks in a child ---- */

/* What the parent held is free, is not given back a second time, and can be taken and given back. */
static int go_on_in_child(void *vlock)
{
    struct drng_lock *lock = vlock;
    (void)drng_fork_generation();
    drng_unlock(lock); /* the one that the parent took */
    if (!drng_lock(lock) || pthread_mutex_trylock(&lock->mutex) == 0) {
        return 1;
    }
    drng_unlock(lock);
    drng_unlock(lock);
    return drng_lock(lock) ? 0 : 2;
}

UNIT_TEST("a child goes on where its parent held a lock")
{
    open_place();
    CU_ASSERT_TRUE(drng_lock(&place.slot->lock));
    CU_ASSERT_EQUAL(child_forked(go_on_in_child, &place.slot->lock), 0);
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || child_cloned(go_on_in_child, &place.slot->lock) == 0);
    CU_ASSERT_FALSE(is_free(&place.slot->lock));
    drng_unlock(&place.slot->lock);
    close_place();
}

/* Every lock that there is outside slots is free in a child, whoever held it. */
static int take_all(void *unused)
{
    for (unsigned which = 0; which < DRNG_LOCKS; which++) {
        if (pthread_mutex_trylock(&drng_process_lock((enum drng_process_lock)which)->mutex) != 0) {
            return 1;
        }
    }
    return 0;
}

UNIT_TEST("the locks outside slots are free in a child")
{
    open_place();
    for (unsigned which = 0; which < DRNG_LOCKS; which++) {
        CU_ASSERT_TRUE(drng_lock(drng_process_lock((enum drng_process_lock)which)));
    }
    CU_ASSERT_EQUAL(child_forked(take_all, NULL), 0);
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || child_cloned(take_all, NULL) == 0);
    for (unsigned which = DRNG_LOCKS; which-- > 0;) {
        drng_unlock(drng_process_lock((enum drng_process_lock)which));
    }
    close_place();
}

/* ---- One call of a thread at a time ---- */

static HANDLER void enter_and_quit(int unused)
{
    struct drng_guard guard = {0};
    got = drng_guard_enter(&guard);
    if (got) {
        (void)drng_guard_note(guard.before);
    }
}

static void *enter_in_thread(void *unused)
{
    enter_and_quit(0);
    return unused;
}

static bool a_handler_enters(void)
{
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(signal(SIGUSR1, enter_and_quit), SIG_ERR);
    CU_ASSERT_EQUAL(raise(SIGUSR1), 0);
    return got;
}

UNIT_TEST("a handler is refused in a call of its thread")
{
    struct drng_guard guard = {0};
    open_place();
    CU_ASSERT_TRUE(a_handler_enters());
    CU_ASSERT_TRUE(drng_guard_enter(&guard));
    CU_ASSERT_FALSE(a_handler_enters());
    CU_ASSERT_FALSE(a_handler_enters());
    in_a_thread(enter_in_thread, NULL);
    CU_ASSERT_TRUE(got);
    CU_ASSERT_TRUE(leave(&guard));
    CU_ASSERT_EQUAL(drng_inside, DRNG_OUTSIDE);
    CU_ASSERT_TRUE(a_handler_enters());
    close_place();
}

/* A parent of another provider may itself have a generator of drng's as its parent. */
UNIT_TEST("a call that calls out may be called again")
{
    struct drng_guard outer = {0};
    struct drng_guard inner = {0};
    open_place();
    CU_ASSERT_TRUE(drng_guard_enter(&outer));
    (void)drng_guard_note(DRNG_CALLS_OUT);
    CU_ASSERT_TRUE(drng_guard_enter(&inner));
    CU_ASSERT_FALSE(a_handler_enters());
    (void)drng_guard_note(DRNG_CALLS_OUT);
    CU_ASSERT_TRUE(a_handler_enters());
    (void)drng_guard_note(DRNG_INSIDE);
    CU_ASSERT_TRUE(leave(&inner));
    CU_ASSERT_EQUAL(drng_inside, DRNG_CALLS_OUT);
    CU_ASSERT_TRUE(a_handler_enters());
    (void)drng_guard_note(DRNG_INSIDE);
    CU_ASSERT_FALSE(a_handler_enters());
    CU_ASSERT_TRUE(leave(&outer));
    CU_ASSERT_EQUAL(drng_inside, DRNG_OUTSIDE);
    close_place();
}

UNIT_TEST("a chain that leads back is refused")
{
    struct drng_guard guard = {0};
    open_place();
    CU_ASSERT_TRUE(drng_guard_enter(&guard));
    struct slot *slot = take(&guard);
    CU_ASSERT_PTR_EQUAL(slot, place.slot);
    CU_ASSERT_PTR_NULL(take(&guard));
    give_back(&guard, slot);
    CU_ASSERT_TRUE(is_free(&place.slot->lock));
    CU_ASSERT_TRUE(leave(&guard));
    close_place();
}

/* Who does not share it takes no lock. */
UNIT_TEST("a slot that is not shared has no lock")
{
    struct drng_guard guard = {0};
    open_place();
    CU_ASSERT_TRUE(drng_guard_enter(&guard));
    struct drng_guarded *slot = drng_guard_take(&guard, &place, DRNG_ALONE);
    CU_ASSERT_PTR_EQUAL_FATAL(slot, place.slot);
    CU_ASSERT_TRUE(is_free(&place.slot->lock));
    drng_guard_give_back(&place, place.slot, DRNG_ALONE, drng_guard_is_mine(&guard));
    CU_ASSERT_TRUE(leave(&guard));
    close_place();
}

/* As a foreign parent that draws from the generator that it seeds. */
UNIT_TEST("nor is it taken twice")
{
    struct drng_guard outer = {0};
    struct drng_guard inner = {0};
    open_place();
    CU_ASSERT_TRUE(drng_guard_enter(&outer));
    CU_ASSERT_PTR_EQUAL(drng_guard_take(&outer, &place, DRNG_ALONE), place.slot);
    (void)drng_guard_note(DRNG_CALLS_OUT);
    CU_ASSERT_TRUE(drng_guard_enter(&inner));
    CU_ASSERT_PTR_NULL(drng_guard_take(&inner, &place, DRNG_ALONE));
    CU_ASSERT_TRUE(leave(&inner));
    (void)drng_guard_note(DRNG_INSIDE);
    drng_guard_give_back(&place, place.slot, DRNG_ALONE, drng_guard_is_mine(&inner));
    (void)drng_guard_note(DRNG_CALLS_OUT);
    CU_ASSERT_TRUE(drng_guard_enter(&inner));
    CU_ASSERT_PTR_EQUAL(drng_guard_take(&inner, &place, DRNG_ALONE), place.slot);
    drng_guard_give_back(&place, place.slot, DRNG_ALONE, drng_guard_is_mine(&inner));
    CU_ASSERT_TRUE(leave(&inner));
    CU_ASSERT_TRUE(leave(&outer));
    close_place();
}

/* ---- Copies of the machine ---- */

UNIT_TEST("a slot starts over once in each epoch")
{
    struct drng_guard guard = {0};
    open_place();
    for (unsigned i = 0; i < 3; i++) {
        struct slot *made = (struct slot *)(void *)place.slot;
        fill(made); /* what an epoch before has left */
        CU_ASSERT_TRUE(drng_guard_enter(&guard));
        struct slot *slot = take(&guard);
        CU_ASSERT_TRUE(slot == made && holds(slot, 0));
        CU_ASSERT_EQUAL(place.slot->epoch, guard.epoch);
        fill(slot);
        give_back(&guard, slot);
        CU_ASSERT_TRUE(leave(&guard));
        /* No more in this epoch. */
        CU_ASSERT_TRUE(drng_guard_enter(&guard));
        slot = take(&guard);
        CU_ASSERT_TRUE(holds(slot, SECRET));
        give_back(&guard, slot);
        CU_ASSERT_TRUE(leave(&guard));
        copy_the_machine();
    }
    close_place();
}

UNIT_TEST("a call that a copy came into runs again")
{
    struct drng_guard guard = {0};
    open_place();
    CU_ASSERT_TRUE(drng_guard_enter(&guard));
    struct slot *slot = take(&guard);
    fill(slot);
    copy_the_machine();
    give_back(&guard, slot);
    CU_ASSERT_FALSE(leave(&guard));
    CU_ASSERT_FALSE(a_handler_enters());
    slot = take(&guard);
    CU_ASSERT_TRUE(holds(slot, 0));
    give_back(&guard, slot);
    CU_ASSERT_TRUE(leave(&guard));
    CU_ASSERT_TRUE(a_handler_enters());
    close_place();
}

/* Else what a call of the new epoch has made could be wiped by one of the old. */
UNIT_TEST("nothing starts over in an epoch that has ended")
{
    struct drng_guard guard = {0};
    struct drng_guard next = {0};
    open_place();
    CU_ASSERT_TRUE(drng_guard_enter(&guard));
    copy_the_machine();
    (void)drng_guard_note(DRNG_CALLS_OUT);
    CU_ASSERT_TRUE(drng_guard_enter(&next));
    struct slot *slot = take(&next);
    fill(slot);
    give_back(&next, slot);
    CU_ASSERT_TRUE(leave(&next));
    (void)drng_guard_note(DRNG_INSIDE);
    CU_ASSERT_PTR_NULL(take(&guard));
    CU_ASSERT_TRUE(is_free(&place.slot->lock));
    CU_ASSERT_TRUE(holds(slot, SECRET));
    CU_ASSERT_FALSE(leave(&guard));
    slot = take(&guard);
    CU_ASSERT_TRUE(holds(slot, SECRET));
    give_back(&guard, slot);
    CU_ASSERT_TRUE(leave(&guard));
    close_place();
}

/* ---- Forks ---- */

/* In the child, as a test would, but it says where it failed by its status. */
#define EXPECT(what)                                                                                                   \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            return __LINE__ % 251 + 1;                                                                                 \
        }                                                                                                              \
    } while (0)

/* A call that its parent was in. */
static struct drng_guard interrupted;
static struct slot *interrupteds;

/* The call goes on in the child, and no handler comes. */
static int return_into_the_call(void *unused)
{
    EXPECT(holds(interrupteds, 0));
    fill(interrupteds); /* of its parent's state, for all that it knows */
    give_back(&interrupted, interrupteds);
    EXPECT(!leave(&interrupted));
    struct slot *slot = take(&interrupted);
    EXPECT(slot == interrupteds && holds(slot, 0));
    give_back(&interrupted, slot);
    EXPECT(leave(&interrupted));
    EXPECT(drng_inside == DRNG_OUTSIDE);
    return 0;
}

static bool handler_draws(struct slot **slot, uint8_t finds)
{
    struct drng_guard guard = {0};
    if (!drng_guard_enter(&guard)) {
        return false;
    }
    *slot = take(&guard);
    const bool found = holds(*slot, finds);
    if (*slot != NULL) {
        fill(*slot);
        give_back(&guard, *slot);
    }
    return leave(&guard) && found;
}

/* Handlers come first. */
static int draw_in_handlers_and_return(void *unused)
{
    struct slot *slot = NULL;
    EXPECT(!handler_draws(&slot, 0) && !handler_draws(&slot, 0));
    return return_into_the_call(unused);
}

/* Never returns, and forks once more. */
static int draw_below(void *vleft)
{
    unsigned left = *(unsigned *)vleft;
    struct slot *slot = NULL;
    EXPECT(!handler_draws(&slot, 0));
    if (left-- > 0) {
        EXPECT(child_forked(draw_below, &left) == 0);
    }
    EXPECT(!handler_draws(&slot, 0));
    return 0;
}

static void fork_in_a_call(child_work *work, void *arg)
{
    open_place();
    CU_ASSERT_TRUE(drng_guard_enter(&interrupted));
    interrupteds = take(&interrupted);
    CU_ASSERT_TRUE_FATAL(holds(interrupteds, 0));
    fill(interrupteds);
    CU_ASSERT_EQUAL(child_forked(work, arg), 0);
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || child_cloned(work, arg) == 0);
    CU_ASSERT_TRUE(holds(interrupteds, SECRET));
    give_back(&interrupted, interrupteds);
    CU_ASSERT_TRUE(leave(&interrupted));
    close_place();
}

UNIT_TEST("a child runs the call again")
{
    fork_in_a_call(return_into_the_call, NULL);
}

UNIT_TEST("handlers in a child are refused")
{
    fork_in_a_call(draw_in_handlers_and_return, NULL);
}

UNIT_TEST("so are those in its children")
{
    unsigned generations = 6;
    fork_in_a_call(draw_below, &generations);
}

/* A handler cannot be told from what the parent draws. The call below it finds nothing of either. */
static int draw_while_the_call_is_out(void *unused)
{
    struct slot *slot = NULL;
    (void)drng_guard_note(DRNG_CALLS_OUT);
    EXPECT(handler_draws(&slot, 0));
    EXPECT(slot == interrupteds && holds(slot, SECRET));
    (void)drng_guard_note(DRNG_INSIDE);
    memset(interrupteds->rest, 0, sizeof(interrupteds->rest));
    return return_into_the_call(unused);
}

UNIT_TEST("a call that had called out wipes what was drawn meanwhile")
{
    fork_in_a_call(draw_while_the_call_is_out, NULL);
}

static int draw_as_usual(void *unused)
{
    struct drng_guarded *before = place.slot;
    struct slot *slot = NULL;
    EXPECT(handler_draws(&slot, 0));
    EXPECT(&slot->guarded == before);
    return 0;
}

UNIT_TEST("a fork outside of calls leaves the slots where they are")
{
    struct slot *slot = NULL;
    open_place();
    CU_ASSERT_TRUE(handler_draws(&slot, 0));
    CU_ASSERT_EQUAL(child_forked(draw_as_usual, NULL), 0);
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || child_cloned(draw_as_usual, NULL) == 0);
    CU_ASSERT_TRUE(holds(slot, SECRET));
    close_place();
}

/* ---- What runs under the guard ---- */

static unsigned runs;
static enum drng_inside noted;

static enum drng_result work(void *copies, struct drng_guarded *slot, const struct drng_guard *guard)
{
    unsigned *left = copies;
    CU_ASSERT_TRUE(slot == place.slot && slot->epoch == guard->epoch);
    noted = drng_inside;
    runs++;
    if (*left > 0) {
        (*left)--;
        copy_the_machine();
    }
    return DRNG_EXHAUSTED;
}

UNIT_TEST("work runs again until no copy has come into it")
{
    unsigned copies = 3;
    open_place();
    runs = 0;
    CU_ASSERT_EQUAL(drng_guard_run(&place, DRNG_WAITS, work, &copies), DRNG_EXHAUSTED);
    CU_ASSERT_EQUAL(runs, 4);
    CU_ASSERT_EQUAL(noted, DRNG_INSIDE);
    CU_ASSERT_TRUE(is_free(&place.slot->lock) && drng_inside == DRNG_OUTSIDE);
    (void)drng_guard_note(DRNG_INSIDE);
    CU_ASSERT_EQUAL(drng_guard_run(&place, DRNG_WAITS, work, &copies), DRNG_BUSY);
    (void)drng_guard_note(DRNG_OUTSIDE);
    CU_ASSERT_EQUAL(runs, 4);
    close_place();
}

static enum drng_result work_piecewise(void *copies, const struct drng_guard *guard)
{
    int cancel = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    CU_ASSERT_EQUAL(cancel, PTHREAD_CANCEL_DISABLE);
    CU_ASSERT_EQUAL(drng_inside, DRNG_INSIDE);
    return work(copies, drng_guard_take(guard, &place, DRNG_ALONE), guard);
}

UNIT_TEST("so does work in pieces, and it is not cancelled")
{
    unsigned copies = 2;
    int cancel = PTHREAD_CANCEL_DISABLE;
    open_place();
    runs = 0;
    CU_ASSERT_EQUAL(drng_guard_run_piecewise(work_piecewise, &copies), DRNG_EXHAUSTED);
    CU_ASSERT_EQUAL(runs, 3);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
    CU_ASSERT_EQUAL(cancel, PTHREAD_CANCEL_ENABLE);
    (void)drng_guard_note(DRNG_INSIDE);
    CU_ASSERT_EQUAL(drng_guard_run_piecewise(work_piecewise, &copies), DRNG_BUSY);
    (void)drng_guard_note(DRNG_OUTSIDE);
    CU_ASSERT_EQUAL(runs, 3);
    close_place();
}

/* ---- The slot of a place ---- */

static enum drng_inside noted_in_alloc;

void *__real_drng_secmem_alloc(size_t size);

void *__wrap_drng_secmem_alloc(size_t size)
{
    noted_in_alloc = drng_inside;
    return __real_drng_secmem_alloc(size);
}

/* It may hold the lock that a handler's draw would wait for. */
UNIT_TEST("while a place is made no handler draws")
{
    open_place();
    CU_ASSERT_EQUAL(noted_in_alloc, DRNG_INSIDE);
    CU_ASSERT_EQUAL(drng_inside, DRNG_OUTSIDE);
    close_place();
}

static enum drng_result look_at_cancellation(void *cancel, struct drng_guarded *slot, const struct drng_guard *guard)
{
    int again = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
    (void)pthread_setcancelstate(*(int *)cancel, &again);
    return DRNG_OK;
}

/* A handler may reach a cancellation point, and a lock that its thread holds would stay held. */
UNIT_TEST("a call that waits for a lock is not cancelled")
{
    int cancel = PTHREAD_CANCEL_ENABLE;
    open_place();
    CU_ASSERT_EQUAL(drng_guard_run(&place, DRNG_WAITS, look_at_cancellation, &cancel), DRNG_OK);
    CU_ASSERT_EQUAL(cancel, PTHREAD_CANCEL_DISABLE);
    CU_ASSERT_EQUAL(drng_guard_run(&place, DRNG_TRIES, look_at_cancellation, &cancel), DRNG_OK);
    CU_ASSERT_EQUAL(cancel, PTHREAD_CANCEL_ENABLE);
    close_place();
}

static void *try_slot(void *result)
{
    unsigned copies = 0;
    *(enum drng_result *)result = drng_guard_run(&place, DRNG_TRIES, work, &copies);
    return NULL;
}

static enum drng_result let_another_try(void *result, struct drng_guarded *slot, const struct drng_guard *guard)
{
    (void)slot;
    (void)guard;
    in_a_thread(try_slot, result);
    return DRNG_OK;
}

UNIT_TEST("a slot that another thread has taken is denied to whoever tries")
{
    enum drng_result result = DRNG_OK;
    open_place();
    CU_ASSERT_EQUAL(drng_guard_run(&place, DRNG_TRIES, let_another_try, &result), DRNG_OK);
    CU_ASSERT_EQUAL(result, DRNG_BUSY);
    in_a_thread(try_slot, &result);
    CU_ASSERT_EQUAL(result, DRNG_EXHAUSTED);
    close_place();
}

UNIT_TEST("a place that another process has made is denied")
{
    unsigned copies = 0;
    open_place();
    runs = 0;
    atomic_store(&place.owner, 0);
    place.object.number++;
    CU_ASSERT_EQUAL(drng_guard_run(&place, DRNG_WAITS, work, &copies), DRNG_OTHER_PROCESS);
    place.object.number--;
    CU_ASSERT_EQUAL(drng_guard_run(&place, DRNG_WAITS, work, &copies), DRNG_EXHAUSTED);
    CU_ASSERT_EQUAL(runs, 1);
    close_place();
}

/* ThreadSanitizer, where it is linked in, asks for its options here: to it the child's wiped lock is still held. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "report_mutex_bugs=0:detect_deadlocks=0";
}

UNIT_MAIN("guard")
