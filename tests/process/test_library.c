/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdrng in processes: forks, threads, signals, limits, filters and cancelled threads, on the library as it is
 * shipped.
 *
 * Built twice: on libdrng.so.0, and, as library_static, on libdrng.a.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <drng.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/process/filter.h"
#include "tests/process/kernel.h"
#include "tests/process/pool.h"
#include "tests/process/scene.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { DRAWS = 5, THREADS = 8, CHILDREN = 4 };

static drng *handle;

/* It is the call that matters there, and that it comes back. */
static void may_fail(int error) {}

static bool draw_from(drng *d, unsigned times)
{
    unsigned char draw[POOL_DRAW];
    for (unsigned i = 0; i < times; i++) {
        if (drng_read(d, draw, sizeof(draw)) != DRNG_SUCCESS || !pool_add(draw)) {
            return false;
        }
    }
    return true;
}

/* The first call in a process may run out of time on a busy machine, in its start-up tests; it goes on in the next. */
static bool draw_words(int (*call)(void *bytes, size_t len, unsigned retries))
{
    unsigned char draw[POOL_DRAW];
    int error = DRNG_E_NOT_READY;
    for (unsigned i = 0; i < 1000 && error == DRNG_E_NOT_READY; i++) {
        error = call(draw, sizeof(draw), 1000000);
    }
    return error == DRNG_SUCCESS && pool_add(draw);
}

/* Every call that gives bytes, where this machine has what it takes. */
static bool draw_all_ways(void)
{
    unsigned char draw[POOL_DRAW];
    if (!draw_from(handle, DRAWS) ||
        drng_conditioned_seed(draw, sizeof(draw), DRNG_ANY, DRNG_BY_CBC_MAC, NULL) != DRNG_SUCCESS || !pool_add(draw)) {
        return false;
    }
    return (!drng_random_supported(NULL) || draw_words(drng_random_bytes)) &&
           (!drng_seed_supported(NULL) || draw_words(drng_seed_bytes));
}

static size_t draws_of_one(void)
{
    return DRAWS + 1 + (drng_random_supported(NULL) != 0 ? 1U : 0U) + (drng_seed_supported(NULL) != 0 ? 1U : 0U);
}

static void open_pool_and_handle(void)
{
    CU_ASSERT_TRUE_FATAL(pool_open());
    CU_ASSERT_EQUAL_FATAL(drng_open(&handle, DRNG_ANY), DRNG_SUCCESS);
}

static void close_pool_and_handle(size_t draws)
{
    drng_close(handle);
    handle = NULL;
    CU_ASSERT_EQUAL(pool_size(), draws);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    pool_close();
}

/* ---- Forks ---- */

static int draw_and_close(void *unused)
{
    struct drng_info info;
    const bool drawn = draw_all_ways() && drng_info(handle, &info) == DRNG_SUCCESS;
    drng_close(handle);
    return drawn && info.fork_reseeds == 1 ? 0 : 1;
}

UNIT_TEST("children draw their own, and close what they inherit")
{
    const bool clones = !unit_emulated("a child of clone() is not wiped there");
    open_pool_and_handle();
    CU_ASSERT_TRUE(draw_all_ways());
    for (unsigned i = 0; i < CHILDREN; i++) {
        CU_ASSERT_EQUAL(child_forked(draw_and_close, NULL), 0);
        CU_ASSERT_TRUE(!clones || child_cloned(draw_and_close, NULL) == 0);
    }
    CU_ASSERT_TRUE(draw_all_ways());
    close_pool_and_handle((2 + (clones ? 2U : 1U) * CHILDREN) * draws_of_one());
}

static int draw_plainly(void *unused)
{
    return draw_from(handle, 1) ? 0 : 1;
}

/* ---- Threads on one handle ---- */

/* Of a forked child's threads that never were: they ended with the fork. */

const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

static void *draw_in_thread(void *failed)
{
    for (unsigned i = 0; i < 20; i++) {
        if (!draw_all_ways()) {
            return failed;
        }
    }
    return NULL;
}

UNIT_TEST("threads share a handle")
{
    pthread_t ids[THREADS];
    void *failed = NULL;
    open_pool_and_handle();
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&ids[i], NULL, draw_in_thread, &failed), 0);
    }
    for (unsigned i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(child_forked(draw_and_close, NULL), 0);
        CU_ASSERT_EQUAL(drng_reseed(handle), DRNG_SUCCESS);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(pthread_join(ids[i], &failed), 0);
        CU_ASSERT_PTR_NULL(failed);
    }
    close_pool_and_handle((THREADS * 20 + 10) * draws_of_one());
}

/* ---- Signals ---- */

enum { SIGNALS = 200, WITH_BYTES = 20, MOST_CALLS = 1000000 };

static atomic_uint served; /* draws of handlers */
static atomic_uint refused;
static atomic_uint wrong;

/* Refused where it has come into a call of its thread: with zeros. */
static void draw_in_handler(int number)
{
    const int errno_before = errno;
    unsigned char draw[POOL_DRAW];
    memset(draw, 0xaa, sizeof(draw));
    const int error = drng_read(handle, draw, sizeof(draw));
    atomic_fetch_add(&served, error == DRNG_SUCCESS);
    atomic_fetch_add(&refused, error == DRNG_E_BUSY);
    atomic_fetch_add(&wrong, error == DRNG_SUCCESS ? !pool_add(draw)
                                                   : error != DRNG_E_BUSY || !bytes_are(draw, sizeof(draw), 0));
    errno = errno_before;
}

static atomic_bool enough;

static void *send_signals(void *vthread)
{
    const pthread_t *thread = vthread;
    while (!atomic_load(&enough)) {
        (void)pthread_kill(*thread, SIGUSR1);
        (void)sched_yield();
    }
    return NULL;
}

/* Wherever the thread is; its own calls go on to their end. */
UNIT_TEST("a signal handler is served or refused")
{
    const struct sigaction action = {.sa_handler = draw_in_handler, .sa_flags = SA_RESTART};
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    pthread_t self = pthread_self();
    pthread_t sender;
    unsigned own = 0;
    open_pool_and_handle();
    atomic_store(&enough, false);
    CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &action, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&sender, NULL, send_signals, &self), 0);
    for (unsigned i = 0; i < MOST_CALLS && atomic_load(&served) + atomic_load(&refused) < SIGNALS; i++) {
        unsigned char draw[POOL_DRAW];
        CU_ASSERT_EQUAL_FATAL(drng_read(handle, draw, sizeof(draw)), DRNG_SUCCESS);
        if (i % WITH_BYTES == 0) {
            CU_ASSERT_TRUE_FATAL(pool_add(draw));
            own++;
            CU_ASSERT_EQUAL_FATAL(drng_reseed(handle), DRNG_SUCCESS);
        }
    }
    atomic_store(&enough, true);
    CU_ASSERT_EQUAL(pthread_join(sender, NULL), 0);
    CU_ASSERT_EQUAL(sigaction(SIGUSR1, &ignored, NULL), 0);
    CU_ASSERT_TRUE(atomic_load(&refused) > 0);
    CU_ASSERT_EQUAL(atomic_load(&wrong), 0);
    close_pool_and_handle(own + atomic_load(&served));
}

/* ---- Cancelled threads ---- */

static void *cancelled_in_a_draw(void *unused)
{
    struct drng_seed_info info;
    unsigned char draw[POOL_DRAW];
    (void)pthread_cancel(pthread_self());
    may_fail(drng_read(handle, draw, sizeof(draw)));
    may_fail(drng_conditioned_seed(draw, sizeof(draw), DRNG_ANY, DRNG_BY_HMAC_SHA256, &info));
    may_fail(drng_reseed(handle));
    pthread_testcancel();
    return unused;
}

static int play_cancelled(void)
{
    pthread_t id;
    for (unsigned i = 0; i < 50; i++) {
        void *result = NULL;
        if (pthread_create(&id, NULL, cancelled_in_a_draw, NULL) != 0 || pthread_join(id, &result) != 0 ||
            result != PTHREAD_CANCELED) {
            return 2;
        }
        /* the first of them comes before the library has been opened by anybody */
        if (handle == NULL && drng_open(&handle, DRNG_ANY) != DRNG_SUCCESS) {
            return 3;
        }
    }
    return pool_open() && draw_all_ways() && child_forked(draw_plainly, NULL) == 0 ? 0 : 4;
}

/* ---- Limits and filters ---- */

/* No memory may be locked. */
static int play_unlocked(void)
{
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_MEMLOCK, &none) == 0 && pool_open() && drng_open(&handle, DRNG_ANY) == DRNG_SUCCESS &&
                   draw_all_ways()
               ? 0
               : 1;
}

/* With hardware alone no system call is needed but those of locks; RDSEED's words may have to be waited for. */
static int play_filtered(void)
{
    static const long allowed[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_futex};
    unsigned char draw[64];
    uint64_t number = 0;
    if (drng_open(&handle, DRNG_HARDWARE_ONLY) != DRNG_SUCCESS) {
        return 1;
    }
    may_fail(drng_random64(&number, 0));
    may_fail(drng_seed64(&number, 0));
    if (!filter_allow_only(allowed, sizeof(allowed) / sizeof(*allowed))) {
        return 2;
    }
    for (unsigned i = 0; i < 1000; i++) {
        if (drng_read(handle, draw, sizeof(draw)) != DRNG_SUCCESS) {
            return 3;
        }
    }
    may_fail(drng_reseed(handle));
    may_fail(drng_random_bytes(draw, sizeof(draw), DRNG_RETRIES));
    may_fail(drng_seed_bytes(draw, sizeof(draw), DRNG_SEED_RETRIES));
    drng_close(handle);
    return 0;
}

/* The twin: where the kernel may serve, its system call is made, and the filter kills. */
static int play_killed(void)
{
    static const long allowed[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_futex};
    return drng_open(&handle, DRNG_ANY) == DRNG_SUCCESS &&
                   filter_allow_only(allowed, sizeof(allowed) / sizeof(*allowed)) && drng_reseed(handle) == DRNG_SUCCESS
               ? 0
               : 1;
}

/* ---- Beside the module, loaded and unloaded ---- */

/* drng.so and libdrng.so.0 have the same code inside; neither may find the other's. */
static int play_loaded_twice(void)
{
    int (*read_bytes)(drng *, void *, size_t) = NULL;
    int (*open_handle)(drng **, enum drng_choice) = NULL;
    void (*close_handle)(drng *) = NULL;
    unsigned char draw[POOL_DRAW];
    for (unsigned i = 0; i < 20; i++) {
        void *module = dlopen(DRNG_MODULE, RTLD_NOW | RTLD_GLOBAL);
        void *library = dlopen(DRNG_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
        if (module == NULL || library == NULL || dlsym(module, "OSSL_provider_init") == NULL) {
            (void)scene_says("%s", dlerror());
            return 1;
        }
        *(void **)&open_handle = dlsym(library, "drng_open");
        *(void **)&read_bytes = dlsym(library, "drng_read");
        *(void **)&close_handle = dlsym(library, "drng_close");
        drng *d = NULL;
        if (open_handle(&d, DRNG_ANY) != DRNG_SUCCESS || read_bytes(d, draw, sizeof(draw)) != DRNG_SUCCESS) {
            return 2;
        }
        close_handle(d);
        if (dlclose(library) != 0 || dlclose(module) != 0) {
            return 3;
        }
    }
    return dlopen(DRNG_LIBRARY, RTLD_NOW | RTLD_NOLOAD) != NULL ? 0 : 4;
}

/* ---- What plays ---- */

static const struct scene scenes[] = {
    {"cancelled", play_cancelled}, {"unlocked", play_unlocked},         {"filtered", play_filtered},
    {"killed", play_killed},       {"loaded twice", play_loaded_twice},
};

UNIT_TEST("cancelled threads leave the others served")
{
    CU_ASSERT_EQUAL(scene_play("cancelled", "", SCENE_AS_IT_IS), 0);
}

UNIT_TEST("without locked memory it serves")
{
    CU_ASSERT_EQUAL(scene_play("unlocked", "", SCENE_AS_IT_IS), 0);
}

UNIT_TEST("hardware alone needs no system call")
{
    if (unit_emulated("a filter would be the emulator's") || kernel_is_instrumented() || !drng_seed_supported(NULL) ||
        !drng_random_supported(NULL)) {
        return;
    }
    CU_ASSERT_EQUAL(scene_play("filtered", "", SCENE_AS_IT_IS), 0);
    const int killed = scene_play("killed", "", SCENE_AS_IT_IS);
    CU_ASSERT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGSYS);
}

UNIT_TEST("it lives beside the module")
{
    if (unit_emulated("the loader is another") || kernel_is_instrumented()) {
        return;
    }
    CU_ASSERT_EQUAL(scene_play("loaded twice", "", SCENE_AS_IT_IS), 0);
}

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes, sizeof(scenes) / sizeof(*scenes));
    return unit_run("library");
}
