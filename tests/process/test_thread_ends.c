/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generators behind random_bytes, which OpenSSL 3.5 calls: they are freed when their thread ends or when their
 * instance of the provider does, whichever is first, and both at once.
 *
 * The order is made by events. Every call of pthread_mutex_lock() and pthread_mutex_unlock() comes here (--wrap), and
 * one of the two threads, that which ends or that which frees, stops before or after it. Then the other one does all it
 * has to do, or gets to where it waits for the lock.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

enum { LEN = POOL_DRAW };

/* ---- Instances ---- */

static struct drng_provctx *load(void)
{
    fake_core_set("request_mixing", "no");
    struct drng_provctx *provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL || !drng_threads_open(provctx)) {
        abort();
    }
    return provctx;
}

static void unload(struct drng_provctx *provctx)
{
    drng_threads_close(provctx);
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

/* What this process keeps as long as it lives: an instance that no test frees. */
static struct drng_provctx *lasting;
static unsigned slots_before;

static void begin(void)
{
    slots_before = kernel_filled_slots();
}

/* Nothing is left of a test's threads and instances, and nobody has drawn what another has. */
static void end(void)
{
    CU_ASSERT_EQUAL(kernel_filled_slots(), slots_before);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    CU_ASSERT_TRUE(draw(lasting));
}

/* ---- One thread ends, another frees the instance ---- */

enum moment { NEVER, BEFORE_LOCK, AFTER_LOCK, BEFORE_UNLOCK, AFTER_UNLOCK, MOMENTS };

static _Thread_local enum moment stops_at;   /* at the lock of the threads' tables; NEVER: this thread does not stop */
static _Thread_local bool comes_to_the_lock; /* says so */
static _Thread_local void (*handler)(void);  /* comes there, too */
static sem_t stopped;
static sem_t may_go_on;
static sem_t is_there; /* the other thread is about to take the lock, or has done all */

static bool is_ours(const pthread_mutex_t *mutex)
{
    return drng_fork_page != NULL && mutex == &drng_process_lock(DRNG_LOCK_THREADS)->mutex;
}

static void pass(const pthread_mutex_t *mutex, enum moment moment)
{
    if (!is_ours(mutex)) {
        return;
    }
    if (stops_at == moment) {
        stops_at = NEVER;
        void (*const comes)(void) = handler;
        handler = NULL;
        if (comes != NULL) {
            comes();
        } else {
            (void)sem_post(&stopped);
            (void)sem_wait(&may_go_on);
        }
    }
    if (comes_to_the_lock && moment == BEFORE_LOCK) {
        comes_to_the_lock = false;
        (void)sem_post(&is_there);
    }
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    pass(mutex, BEFORE_LOCK);
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

static bool has_the_lock(enum moment moment)
{
    return moment == AFTER_LOCK || moment == BEFORE_UNLOCK;
}

static struct drng_provctx *instance;
static sem_t drawn;
static sem_t may_end;
static enum moment threads_moment; /* at which the thread that ends stops */
static bool thread_drew;

static void *draw_and_end(void *unused)
{
    thread_drew = draw(instance) && draw(lasting);
    (void)sem_post(&drawn);
    (void)sem_wait(&may_end);
    stops_at = threads_moment;
    comes_to_the_lock = threads_moment == NEVER;
    return unused;
}

static void *unload_in_thread(void *moment)
{
    stops_at = *(enum moment *)moment;
    comes_to_the_lock = stops_at == NEVER;
    unload(instance);
    (void)sem_post(&is_there);
    return NULL;
}

static void reset(sem_t *semaphore)
{
    CU_ASSERT_EQUAL_FATAL(sem_init(semaphore, 0, 0), 0);
}

/* A thread that has drawn and waits to end, of an instance that others have drawn from, too. */
static pthread_t start_thread_that_ends(void)
{
    pthread_t thread;
    instance = load();
    CU_ASSERT_TRUE(draw(instance));
    reset(&stopped);
    reset(&may_go_on);
    reset(&is_there);
    reset(&drawn);
    reset(&may_end);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_and_end, NULL), 0);
    (void)sem_wait(&drawn);
    CU_ASSERT_TRUE(thread_drew);
    return thread;
}

/* The thread stops on its way out while the instance is freed. */
UNIT_TEST("a thread that ends is overtaken")
{
    enum moment never = NEVER;
    begin();
    for (enum moment moment = BEFORE_LOCK; moment < MOMENTS; moment++) {
        pthread_t frees;
        threads_moment = moment;
        const pthread_t ends = start_thread_that_ends();
        (void)sem_post(&may_end);
        (void)sem_wait(&stopped);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&frees, NULL, unload_in_thread, &never), 0);
        (void)sem_wait(&is_there);
        if (!has_the_lock(moment)) {
            CU_ASSERT_EQUAL(pthread_join(frees, NULL), 0);
        }
        (void)sem_post(&may_go_on);
        if (has_the_lock(moment)) {
            CU_ASSERT_EQUAL(pthread_join(frees, NULL), 0);
        }
        CU_ASSERT_EQUAL(pthread_join(ends, NULL), 0);
    }
    end();
}

/* The other way round. */
UNIT_TEST("a thread that frees is overtaken")
{
    begin();
    for (enum moment moment = BEFORE_LOCK; moment < MOMENTS; moment++) {
        pthread_t frees;
        threads_moment = NEVER;
        const pthread_t ends = start_thread_that_ends();
        CU_ASSERT_EQUAL_FATAL(pthread_create(&frees, NULL, unload_in_thread, &moment), 0);
        (void)sem_wait(&stopped);
        (void)sem_post(&may_end);
        (void)sem_wait(&is_there);
        if (!has_the_lock(moment)) {
            CU_ASSERT_EQUAL(pthread_join(ends, NULL), 0);
        }
        (void)sem_post(&may_go_on);
        if (has_the_lock(moment)) {
            CU_ASSERT_EQUAL(pthread_join(ends, NULL), 0);
        }
        CU_ASSERT_EQUAL(pthread_join(frees, NULL), 0);
    }
    end();
}

/* ---- Signal handlers ---- */

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

static enum moment handlers_moment;

static void *draw_under_a_handler(void *unused)
{
    stops_at = handlers_moment;
    handler = draw_in_handler;
    thread_drew = draw(instance);
    return unused;
}

UNIT_TEST("a handler in the first draw of its thread is refused")
{
    begin();
    instance = load();
    for (handlers_moment = BEFORE_LOCK; handlers_moment < MOMENTS; handlers_moment++) {
        pthread_t thread;
        handler_came = handler_drew = false;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_under_a_handler, NULL), 0);
        CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
        CU_ASSERT_TRUE(thread_drew && handler_came && !handler_drew);
    }
    unload(instance);
    end();
}

static void *end_under_a_handler(void *unused)
{
    thread_drew = draw(instance);
    stops_at = handlers_moment;
    handler = draw_in_handler;
    return unused;
}

/* Its thread's generators are no more: it would have to make new ones, under the lock. */
UNIT_TEST("a handler while its thread ends is refused")
{
    begin();
    instance = load();
    for (handlers_moment = BEFORE_LOCK; handlers_moment < MOMENTS; handlers_moment++) {
        pthread_t thread;
        handler_came = handler_drew = false;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, end_under_a_handler, NULL), 0);
        CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
        CU_ASSERT_TRUE(thread_drew && handler_came && !handler_drew);
    }
    unload(instance);
    end();
}

/*
 * The handler forks while its thread, which draws from `instance` for the first time, makes room in its table. In the
 * child it is refused, and the thread goes on.
 */
static bool forks_in_calloc;
static pid_t forked;
static int status_of_forked;

void *__real_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    if (forks_in_calloc) {
        forks_in_calloc = false;
        forked = fork();
        if (forked > 0 && waitpid(forked, &status_of_forked, 0) != forked) {
            status_of_forked = -1;
        }
        if (forked == 0) {
            draw_in_handler();
        }
    }
    return __real_calloc(count, size);
}

static void *draw_and_fork(void *unused)
{
    thread_drew = draw(lasting);
    forks_in_calloc = true;
    thread_drew = draw(instance) && draw(lasting) && thread_drew;
    if (forked == 0) {
        _exit(thread_drew && handler_came && !handler_drew ? 0 : 1);
    }
    return unused;
}

UNIT_TEST("a handler in a child leaves the lists to its thread")
{
    pthread_t thread;
    begin();
    instance = load();
    forked = -1;
    handler_came = handler_drew = false;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_and_fork, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_TRUE(thread_drew && forked > 0);
    CU_ASSERT_EQUAL(status_of_forked, 0);
    unload(instance);
    end();
}

/* ---- Draws while a thread ends, in destructors of the program's keys ---- */

enum { KEYS = 2 };

/*
 * Of the four passes that the C library makes: in the next one drng's own destructor comes. ThreadSanitizer has
 * forgotten the thread in the last one.
 */
static unsigned passes_with_draws(void)
{
    return kernel_is_instrumented() ? 2 : 3;
}

static pthread_key_t keys[KEYS]; /* one is older than drng's, one newer */
static atomic_uint draws_in_destructors;

static void draw_in_destructor(unsigned which, unsigned char *passes)
{
    CU_ASSERT_TRUE(draw(instance) && draw(lasting));
    atomic_fetch_add(&draws_in_destructors, 1);
    if (--*passes > 0) {
        CU_ASSERT_EQUAL(pthread_setspecific(keys[which], passes), 0);
    }
}

static void draw_before(void *passes)
{
    draw_in_destructor(0, passes);
}

static void draw_after(void *passes)
{
    draw_in_destructor(1, passes);
}

static void *leave_it_to_destructors(void *draws_itself)
{
    static _Thread_local unsigned char passes[KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        passes[i] = (unsigned char)passes_with_draws();
        CU_ASSERT_EQUAL(pthread_setspecific(keys[i], &passes[i]), 0);
    }
    if (draws_itself != NULL) {
        CU_ASSERT_TRUE(draw(instance) && draw(lasting));
    }
    return NULL;
}

UNIT_TEST("destructors draw")
{
    static int draws_itself;
    begin();
    instance = load();
    unsigned slots[2];
    atomic_store(&draws_in_destructors, 0);
    for (unsigned i = 0; i < 2; i++) {
        pthread_t thread;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, leave_it_to_destructors, i > 0 ? &draws_itself : NULL), 0);
        CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
        slots[i] = kernel_filled_slots();
    }
    CU_ASSERT_EQUAL(slots[0], slots[1]); /* the primary's, and the reader's */
    CU_ASSERT_EQUAL(atomic_load(&draws_in_destructors), 2 * KEYS * passes_with_draws());
    unload(instance);
    end();
}

/* ---- Many instances, made and freed while threads live ---- */

enum { THREADS = 4, INSTANCES = 12, ROUNDS = 60 };

static struct drng_provctx *instances[INSTANCES];
static pthread_barrier_t step;
static atomic_bool enough;
static atomic_uint failures;

/* Draws from all that there are, and from the lasting one while others are made and freed. */
static void *draw_on(void *unused)
{
    while (!atomic_load(&enough)) {
        for (unsigned i = 0; i < INSTANCES; i++) {
            atomic_fetch_add(&failures, instances[i] != NULL && !draw(instances[i]));
        }
        (void)pthread_barrier_wait(&step);
        atomic_fetch_add(&failures, !draw(lasting));
        (void)pthread_barrier_wait(&step);
    }
    return unused;
}

static void *draw_once(void *unused)
{
    atomic_fetch_add(&failures, !draw(lasting));
    return unused;
}

/* An eighth of the places changes hands, another one in each round. A thread comes and goes meanwhile. */
static void change_instances(unsigned round)
{
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_once, NULL), 0);
    for (unsigned i = 0; i < INSTANCES; i++) {
        if ((i * 5 + round * 3) % 8 > 1) {
            continue;
        }
        if (instances[i] != NULL) {
            unload(instances[i]);
            instances[i] = NULL;
        } else {
            instances[i] = load();
        }
    }
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
}

UNIT_TEST("instances come and go under living threads")
{
    pthread_t threads[THREADS];
    begin();
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&step, NULL, THREADS + 1), 0);
    atomic_store(&enough, false);
    atomic_store(&failures, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, draw_on, NULL), 0);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        (void)pthread_barrier_wait(&step);
        change_instances(round);
        atomic_store(&enough, round == ROUNDS - 1);
        (void)pthread_barrier_wait(&step);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    for (unsigned i = 0; i < INSTANCES; i++) {
        if (instances[i] != NULL) {
            unload(instances[i]);
            instances[i] = NULL;
        }
    }
    (void)pthread_barrier_destroy(&step);
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

/* ---- Many threads end while their instance is freed, in whatever order comes ---- */

enum { TIMES = 200, ENDING = 3 };

static pthread_barrier_t all_have_drawn;

static void *draw_meet_and_end(void *unused)
{
    atomic_fetch_add(&failures, !draw(instance));
    (void)pthread_barrier_wait(&all_have_drawn);
    return unused;
}

UNIT_TEST("threads end while their instance is freed")
{
    begin();
    atomic_store(&failures, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&all_have_drawn, NULL, ENDING + 1), 0);
    for (unsigned i = 0; i < TIMES; i++) {
        pthread_t threads[ENDING];
        instance = load();
        for (unsigned j = 0; j < ENDING; j++) {
            CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[j], NULL, draw_meet_and_end, NULL), 0);
        }
        (void)pthread_barrier_wait(&all_have_drawn);
        unload(instance);
        for (unsigned j = 0; j < ENDING; j++) {
            CU_ASSERT_EQUAL(pthread_join(threads[j], NULL), 0);
        }
    }
    (void)pthread_barrier_destroy(&all_have_drawn);
    CU_ASSERT_EQUAL(atomic_load(&failures), 0);
    end();
}

int main(void)
{
    if (!pool_open() || !device_plug_in() || pthread_key_create(&keys[0], draw_before) != 0) {
        return 1;
    }
    lasting = load();
    /* drng makes its own at the first draw. */
    if (!draw(lasting) || pthread_key_create(&keys[1], draw_after) != 0) {
        return 1;
    }
    const int result = unit_run("threads that end");
    unload(lasting);
    device_unplug();
    pool_close();
    return result;
}
