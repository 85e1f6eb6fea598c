/* Locks: what a fork, a cancelled thread and a signal handler find of them. */

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "mixing/memory/fork.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/secmem.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

static struct drng_lock *first;
static struct drng_lock *second;

static void open_locks(void)
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    first = drng_secmem_alloc();
    second = drng_secmem_alloc();
    CU_ASSERT_TRUE_FATAL(first != NULL && second != NULL);
}

static void close_locks(void)
{
    drng_secmem_free(first);
    drng_secmem_free(second);
    drng_secmem_close();
}

/* ---- Signal handlers, which run in the thread that they interrupt ---- */

static bool got;

static void take_first(int unused)
{
    (void)unused;
    got = drng_lock(first);
    if (got) {
        drng_unlock(first);
    }
}

static void share_first(int unused)
{
    (void)unused;
    got = drng_lock_or_share(first);
    drng_unlock(first);
}

static void in_handler(void (*handler)(int))
{
    CU_ASSERT_PTR_NOT_EQUAL_FATAL(signal(SIGUSR1, handler), SIG_ERR);
    CU_ASSERT_EQUAL(raise(SIGUSR1), 0);
}

static void a_handler_is_refused_what_its_thread_holds(void)
{
    open_locks();
    in_handler(take_first);
    CU_ASSERT_TRUE(got);
    CU_ASSERT_TRUE(drng_lock(first));
    in_handler(take_first);
    CU_ASSERT_FALSE(got);
    drng_unlock(first);
    CU_ASSERT_TRUE(drng_lock(second));
    in_handler(take_first);
    CU_ASSERT_TRUE(got);
    drng_unlock(second);
    close_locks();
}

static void *try_first(void *unused)
{
    got = pthread_mutex_trylock(&first->mutex) == 0;
    if (got) {
        (void)pthread_mutex_unlock(&first->mutex);
    }
    return unused;
}

static bool another_thread_gets_first(void)
{
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, try_first, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    return got;
}

static void what_a_handler_shares_stays_locked(void)
{
    open_locks();
    CU_ASSERT_TRUE(drng_lock(first));
    in_handler(share_first);
    CU_ASSERT_TRUE(got);
    CU_ASSERT_FALSE(another_thread_gets_first());
    drng_unlock(first);
    CU_ASSERT_TRUE(another_thread_gets_first());
    /* Nothing was held: it is a lock like any other. */
    in_handler(share_first);
    CU_ASSERT_TRUE(got);
    CU_ASSERT_TRUE(another_thread_gets_first());
    close_locks();
}

static void a_lock_that_is_not_held_cannot_be_given_back(void)
{
    open_locks();
    CU_ASSERT_TRUE(drng_lock(first));
    drng_unlock(second);
    CU_ASSERT_FALSE(another_thread_gets_first());
    drng_unlock(first);
    CU_ASSERT_TRUE(another_thread_gets_first());
    close_locks();
}

static void locks_nest_to_their_depth(void)
{
    struct drng_lock *lock[DRNG_LOCK_DEPTH + 1];
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    for (unsigned i = 0; i <= DRNG_LOCK_DEPTH; i++) {
        lock[i] = drng_secmem_alloc();
        CU_ASSERT_PTR_NOT_NULL_FATAL(lock[i]);
    }
    for (unsigned i = 0; i <= DRNG_LOCK_DEPTH; i++) {
        CU_ASSERT_EQUAL(drng_lock(lock[i]), i < DRNG_LOCK_DEPTH);
    }
    /* First in, first out. */
    for (unsigned i = 0; i < DRNG_LOCK_DEPTH; i++) {
        drng_unlock(lock[i]);
        CU_ASSERT_TRUE(drng_lock(lock[i]));
        drng_unlock(lock[i]);
    }
    for (unsigned i = 0; i <= DRNG_LOCK_DEPTH; i++) {
        drng_secmem_free(lock[i]);
    }
    drng_secmem_close();
}

/* ---- Cancellation ---- */

static void *cancel_inside(void *arg)
{
    const bool nested = arg != NULL;
    if (!drng_lock(first) || (nested && !drng_lock(second))) {
        return arg;
    }
    (void)pthread_cancel(pthread_self());
    pthread_testcancel();
    if (nested) {
        /* The other way round than libcrypto does it. */
        drng_unlock(first);
        pthread_testcancel();
        drng_unlock(second);
    } else {
        drng_unlock(first);
    }
    pthread_testcancel();
    return arg;
}

static void a_thread_ends_with_no_lock_in_its_hands(void)
{
    static int nested;
    void *const ways[] = {NULL, &nested};
    open_locks();
    for (unsigned i = 0; i < 2; i++) {
        pthread_t thread;
        void *result = NULL;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_inside, ways[i]), 0);
        CU_ASSERT_EQUAL(pthread_join(thread, &result), 0);
        CU_ASSERT_PTR_EQUAL(result, PTHREAD_CANCELED);
        CU_ASSERT_TRUE(drng_lock(first) && drng_lock(second));
        drng_unlock(second);
        drng_unlock(first);
    }
    close_locks();
}

static void who_may_not_be_cancelled_before_may_not_after(void)
{
    int state = PTHREAD_CANCEL_ENABLE;
    open_locks();
    CU_ASSERT_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
    CU_ASSERT_TRUE(drng_lock(first));
    drng_unlock(first);
    CU_ASSERT_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
    CU_ASSERT_EQUAL(state, PTHREAD_CANCEL_DISABLE);
    CU_ASSERT_TRUE(drng_lock(first));
    drng_unlock(first);
    CU_ASSERT_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
    CU_ASSERT_EQUAL(state, PTHREAD_CANCEL_ENABLE);
    close_locks();
}

/* ---- Forks while the thread itself holds a lock ---- */

/* What the parent held is free, is not given back a second time, and can be taken and given back. */
static int go_on_in_child(void *unused)
{
    (void)unused;
    if (!drng_lock(second) || !drng_lock(first)) {
        return 1;
    }
    drng_unlock(first);
    drng_unlock(first); /* the one that the parent took */
    drng_unlock(second);
    return drng_lock(first) && drng_lock(second) ? 0 : 2;
}

static void a_child_goes_on_where_its_parent_held_a_lock(void)
{
    open_locks();
    CU_ASSERT_TRUE(drng_lock(first));
    CU_ASSERT_EQUAL(child_forked(go_on_in_child, NULL), 0);
    CU_ASSERT_EQUAL(child_cloned(go_on_in_child, NULL), 0);
    CU_ASSERT_FALSE(another_thread_gets_first());
    drng_unlock(first);
    close_locks();
}

/* A handler that forks under a lock, whose child never comes back from it, and is interrupted in its turn. */
static int go_on_below(void *arg)
{
    const unsigned left = *(unsigned *)arg;
    unsigned below = left - 1;
    int state = PTHREAD_CANCEL_DISABLE;
    if (!drng_lock(first)) {
        return 1;
    }
    if (left > 0 && child_forked(go_on_below, &below) != 0) {
        return 2;
    }
    drng_unlock(first);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    return state == PTHREAD_CANCEL_ENABLE ? 0 : 3;
}

static void locks_of_ancestors_do_not_count(void)
{
    unsigned generations = 2 * DRNG_LOCK_DEPTH;
    open_locks();
    CU_ASSERT_EQUAL(go_on_below(&generations), 0);
    close_locks();
}

/* Every lock that there is outside slots is free in a child, whoever held it. */
static int take_all(void *unused)
{
    (void)unused;
    (void)drng_fork_generation(); /* where the kernel does not wipe, this does */
    for (unsigned which = 0; which < DRNG_LOCKS; which++) {
        if (pthread_mutex_trylock(&drng_process_lock((enum drng_process_lock)which)->mutex) != 0) {
            return 1;
        }
    }
    return 0;
}

static void the_locks_outside_slots_are_free_in_a_child(void)
{
    open_locks();
    for (unsigned which = 0; which < DRNG_LOCKS; which++) {
        CU_ASSERT_TRUE(drng_lock(drng_process_lock((enum drng_process_lock)which)));
    }
    CU_ASSERT_EQUAL(child_forked(take_all, NULL), 0);
    CU_ASSERT_EQUAL(child_cloned(take_all, NULL), 0);
    for (unsigned which = DRNG_LOCKS; which-- > 0;) {
        drng_unlock(drng_process_lock((enum drng_process_lock)which));
    }
    close_locks();
}

/* ThreadSanitizer, where it is linked in, asks for its options here: to it the child's wiped lock is still held. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "report_mutex_bugs=0:detect_deadlocks=0";
}

static const struct unit_test tests[] = {
    {"a handler is refused what its thread holds", a_handler_is_refused_what_its_thread_holds},
    {"what a handler shares stays locked", what_a_handler_shares_stays_locked},
    {"a lock that is not held cannot be given back", a_lock_that_is_not_held_cannot_be_given_back},
    {"locks nest to their depth", locks_nest_to_their_depth},
    {"a thread ends with no lock in its hands", a_thread_ends_with_no_lock_in_its_hands},
    {"who may not be cancelled before may not after", who_may_not_be_cancelled_before_may_not_after},
    {"a child goes on where its parent held a lock", a_child_goes_on_where_its_parent_held_a_lock},
    {"locks of ancestors do not count", locks_of_ancestors_do_not_count},
    {"the locks outside slots are free in a child", the_locks_outside_slots_are_free_in_a_child},
};

UNIT_MAIN("lock", tests)
