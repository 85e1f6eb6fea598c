/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of generators behind random_bytes, which OpenSSL 3.5 calls: more threads than pairs, threads that end,
 * handlers that come while a pair is made, and instances that come and go.
 *
 * Handlers and other threads come by events: every call of pthread_mutex_lock(), pthread_mutex_unlock() and
 * time(), which a draw asks once it has its slot, comes here (--wrap).
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mixing/state/fork.h"
#include "provider/provctx.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/device.h"
#include "tests/process/kernel.h"
#include "tests/process/pool.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { LEN = POOL_DRAW, PAIRS = 64, SECONDS = 20 };

/* ---- Instances ---- */

static struct drng_provctx *load(void)
{
    fake_core_set("request_mixing", "no");
    struct drng_provctx *provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL || !drng_pairs_open(provctx)) {
        abort();
    }
    return provctx;
}

static void unload(struct drng_provctx *provctx)
{
    drng_pairs_close(provctx);
    drng_provctx_free(provctx);
}

static bool draw(struct drng_provctx *provctx)
{
    unsigned char bytes[LEN];
    for (int which = OSSL_PROV_RANDOM_PUBLIC; which <= OSSL_PROV_RANDOM_PRIVATE; which++) {
        memset(bytes, 0, sizeof(bytes));
        if (drng_random_bytes(provctx, which, bytes, sizeof(bytes), 256) != 1 || bytes_are(bytes, sizeof(bytes), 0) ||
            !pool_add(bytes)) {
            return false;
        }
    }
    return true;
}

static struct drng_provctx *instance;
static unsigned slots_before;

static void begin(void)
{
    slots_before = kernel_filled_slots();
    instance = load();
}

/* An instance leaves nothing, and nobody has drawn what another has. */
static void end(void)
{
    unload(instance);
    CU_ASSERT_EQUAL(kernel_filled_slots(), slots_before);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

/* ---- Threads ---- */

static atomic_uint failures;

static void *draw_once(void *unused)
{
    atomic_fetch_add(&failures, !draw(instance));
    return unused;
}

static void run_threads(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_once, NULL), 0);
        CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    }
}

UNIT_TEST("threads that end leave what the pairs take")
{
    begin();
    atomic_store(&failures, 0);
    run_threads(PAIRS);
    const unsigned filled = kernel_filled_slots();
    const unsigned mappings = kernel_wiped_mappings();
    run_threads(1000);
    CU_ASSERT_EQUAL(kernel_filled_slots(), filled);
    CU_ASSERT_EQUAL(kernel_wiped_mappings(), mappings);
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

enum { DRAWS = 100, THREADS = 3 * PAIRS };

static pthread_barrier_t all_are_there;

static void *draw_many(void *unused)
{
    (void)pthread_barrier_wait(&all_are_there);
    for (unsigned i = 0; i < DRAWS; i++) {
        atomic_fetch_add(&failures, !draw(instance));
    }
    return unused;
}

/* Three at each pair, all of which make it at once. */
UNIT_TEST("threads that share a pair draw apart")
{
    pthread_t threads[THREADS];
    begin();
    atomic_store(&failures, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&all_are_there, NULL, THREADS), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, draw_many, NULL), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    (void)pthread_barrier_destroy(&all_are_there);
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

static void draw_in_destructor(void *unused)
{
    (void)draw_once(unused);
}

static void *leave_it_to_destructors(void *key)
{
    atomic_fetch_add(&failures, pthread_setspecific(*(pthread_key_t *)key, key) != 0);
    return draw_once(NULL);
}

UNIT_TEST("destructors draw")
{
    pthread_key_t key;
    pthread_t thread;
    begin();
    atomic_store(&failures, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_key_create(&key, draw_in_destructor), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, leave_it_to_destructors, &key), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(pthread_key_delete(key), 0);
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

/* ---- Forks: a pair that was locked or half made by another thread ---- */

static atomic_bool stop;

static void *draw_on(void *unused)
{
    unsigned char bytes[LEN];
    while (!atomic_load(&stop)) {
        atomic_fetch_add(&failures, drng_random_bytes(instance, 0, bytes, sizeof(bytes), 0) != 1);
    }
    return unused;
}

/* In threads of its own, which are led to each of the pairs. */
static int draw_from_all(void *unused)
{
    (void)unused;
    (void)alarm(SECONDS);
    run_threads(PAIRS);
    return atomic_load(&failures) == 0 ? 0 : 1;
}

UNIT_TEST("a child draws from each pair")
{
    enum { BUSY = 4, FORKS = 20 };
    pthread_t threads[BUSY];
    if (unit_emulated("QEMU 7.2 ends a child of several threads that starts one")) {
        return;
    }
    begin();
    atomic_store(&failures, 0);
    atomic_store(&stop, false);
    for (unsigned i = 0; i < BUSY; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, draw_on, NULL), 0);
    }
    for (unsigned i = 0; i < FORKS && !kernel_is_instrumented(); i++) {
        CU_ASSERT_EQUAL(child_forked(draw_from_all, NULL), 0);
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < BUSY; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

/* ---- Signal handlers while a pair is made ---- */

enum moment { NEVER, BEFORE_LOCK, AFTER_LOCK, BEFORE_UNLOCK, AFTER_UNLOCK, MOMENTS };

static _Thread_local enum moment comes_at;     /* at the lock of the pairs */
static _Thread_local void (*what_comes)(void); /* NULL: draw_in_handler() */
static _Thread_local unsigned locks_taken;     /* by this thread */
static bool handler_came;
static bool handler_drew;

/* Refused: with zeros, and no error, since raising one would allocate memory. */
static void draw_in_handler(void)
{
    unsigned char bytes[LEN];
    memset(bytes, 0xaa, sizeof(bytes));
    fake_error_reason = 0;
    handler_came = true;
    handler_drew = drng_random_bytes(instance, OSSL_PROV_RANDOM_PUBLIC, bytes, sizeof(bytes), 0) == 1;
    CU_ASSERT_TRUE(handler_drew ? pool_add(bytes) : bytes_are(bytes, sizeof(bytes), 0));
    CU_ASSERT_EQUAL(fake_error_reason, 0);
}

static void pass(const pthread_mutex_t *mutex, enum moment moment)
{
    if (comes_at == moment && drng_fork_page != NULL && mutex == &drng_process_lock(DRNG_LOCK_PAIRS)->mutex) {
        comes_at = NEVER;
        (what_comes != NULL ? what_comes : draw_in_handler)();
    }
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    pass(mutex, BEFORE_LOCK);
    locks_taken++;
    const int result = __real_pthread_mutex_lock(mutex);
    pass(mutex, AFTER_LOCK);
    return result;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    pass(mutex, BEFORE_UNLOCK);
    const int result = __real_pthread_mutex_unlock(mutex);
    pass(mutex, AFTER_UNLOCK);
    return result;
}

static void *draw_under_a_handler(void *moment)
{
    comes_at = *(enum moment *)moment;
    return draw_once(NULL);
}

UNIT_TEST("a handler in the first draw from a pair is refused")
{
    begin();
    atomic_store(&failures, 0);
    for (enum moment moment = BEFORE_LOCK; moment < MOMENTS; moment++) {
        pthread_t thread;
        handler_came = handler_drew = false;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_under_a_handler, &moment), 0);
        CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
        CU_ASSERT_TRUE(handler_came && !handler_drew);
    }
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

/* ---- Other threads ---- */

static void let_all_pairs_be_made(void)
{
    run_threads(PAIRS);
}

static void *draw_when_all_are_made(void *unused)
{
    comes_at = BEFORE_LOCK;
    what_comes = let_all_pairs_be_made;
    return draw_once(unused);
}

/* Another thread makes the pair while this one waits for the lock. What is made twice leaves slots behind. */
UNIT_TEST("a pair is made once")
{
    pthread_t thread;
    begin();
    atomic_store(&failures, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_when_all_are_made, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

UNIT_TEST("a draw takes no mutex")
{
    unsigned char bytes[LEN];
    begin();
    CU_ASSERT_TRUE(draw(instance));
    const unsigned before = locks_taken;
    CU_ASSERT_EQUAL(drng_random_bytes(instance, OSSL_PROV_RANDOM_PUBLIC, bytes, sizeof(bytes), 0), 1);
    CU_ASSERT_EQUAL(locks_taken, before);
    end();
}

/* ---- Pairs that are taken ---- */

enum { TRIED = 4 }; /* pairs: a thread's own, and the next ones */

static _Thread_local void (*comes_in_draw)(void);

time_t __real_time(time_t *now);

time_t __wrap_time(time_t *now)
{
    void (*const comes)(void) = comes_in_draw;
    comes_in_draw = NULL;
    if (comes != NULL) {
        comes();
    }
    return __real_time(now);
}

static unsigned taken;       /* pairs whose threads are in the middle of a draw */
static unsigned locks_of_it; /* mutexes that the thread took which found them taken */

static void *count_locks(void *unused)
{
    const unsigned before = locks_taken;
    (void)draw_once(NULL);
    locks_of_it = locks_taken - before;
    return unused;
}

static void take_next_pair(void);

static void *draw_and_take_next_pair(void *unused)
{
    comes_in_draw = take_next_pair;
    return draw_once(unused);
}

static void run_thread(void *(*function)(void *))
{
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, function, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
}

/* In the middle of a draw. When the pairs are taken, a thread comes that the first of them is the own one of. */
static void take_next_pair(void)
{
    taken++;
    if (taken < TRIED) {
        run_thread(draw_and_take_next_pair);
    } else {
        run_threads(PAIRS - TRIED);
        run_thread(count_locks);
    }
}

/* A thread that waited would do so for ever: the others go on when it has drawn. */
UNIT_TEST("a thread whose pairs are taken waits for none of them")
{
    begin();
    run_threads(2 * PAIRS); /* all are made */
    atomic_store(&failures, 0);
    (void)alarm(SECONDS);
    run_thread(draw_and_take_next_pair);
    (void)alarm(0);
    CU_ASSERT_EQUAL(taken, TRIED);
    CU_ASSERT_TRUE(locks_of_it > 0); /* the last pair's */
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

/* ---- Many instances ---- */

UNIT_TEST("instances come and go under a thread that lives")
{
    enum { INSTANCES = 12, ROUNDS = 60 };
    struct drng_provctx *instances[INSTANCES] = {NULL};
    begin();
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct drng_provctx **at = &instances[round * 5 % INSTANCES];
        if (*at != NULL) {
            unload(*at);
        }
        *at = round + INSTANCES < ROUNDS ? load() : NULL;
        for (unsigned i = 0; i < INSTANCES; i++) {
            CU_ASSERT_TRUE(instances[i] == NULL || draw(instances[i]));
        }
        CU_ASSERT_TRUE(draw(instance));
    }
    end();
}

int main(void)
{
    if (!pool_open() || !device_plug_in()) {
        return 1;
    }
    struct drng_provctx *lasting = load();
    const int result = draw(lasting) ? unit_run("pairs of generators") : 1;
    unload(lasting);
    device_unplug();
    pool_close();
    return result;
}
