/* A core that gives less than it should, and a fork at a bad moment. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "provider/provctx.h"
#include "provider/rand/random_bytes.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { LEN = 32, CHILD_SECONDS = 20 };

static struct drng_provctx *load(void)
{
    fake_core_set(NULL, NULL);
    struct drng_provctx *provctx = drng_provctx_new(fake_handle, fake_core);
    CU_ASSERT_PTR_NOT_NULL_FATAL(provctx);
    provctx->threads = drng_threads_new(&provctx->core);
    CU_ASSERT_PTR_NOT_NULL_FATAL(provctx->threads);
    return provctx;
}

static void unload(struct drng_provctx *provctx)
{
    drng_threads_free(provctx->threads);
    drng_provctx_free(provctx);
}

static void a_short_seed_of_the_default_source_is_none(void)
{
    uint8_t out[LEN];
    struct drng_provctx *provctx = load();
    const struct drng_seed_policy *policy = &provctx->policy;
    CU_ASSERT_TRUE(policy->fallback(policy->fallback_arg, out, sizeof(out)));
    fake_entropy_short = true;
    CU_ASSERT_FALSE(policy->fallback(policy->fallback_arg, out, sizeof(out)));
    fake_entropy_short = false;
    unload(provctx);
}

static void fail(void)
{
    fake_thread_start_fails = true;
}

static void a_thread_that_cannot_be_told_of_its_end_gets_zeros(void)
{
    uint8_t out[LEN];
    struct drng_provctx *provctx = load();
    fake_in_thread_start = fail;
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drng_random_bytes(provctx, 0, out, sizeof(out), 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    fake_in_thread_start = NULL;
    fake_thread_start_fails = false;
    CU_ASSERT_EQUAL(drng_random_bytes(provctx, 0, out, sizeof(out), 0), 1);
    CU_ASSERT_EQUAL(fake_thread_stop(), 1);
    unload(provctx);
}

/* ---- A fork while another thread holds the lock of the list ---- */

static struct drng_provctx *forked;
static pthread_barrier_t inside;
static pthread_barrier_t outside;

static void wait_with_the_lock(void)
{
    (void)pthread_barrier_wait(&inside);
    (void)pthread_barrier_wait(&outside);
}

static void *draw_slowly(void *unused)
{
    uint8_t out[LEN];
    (void)unused;
    CU_ASSERT_EQUAL(drng_random_bytes(forked, 0, out, sizeof(out), 0), 1);
    (void)fake_thread_stop();
    return NULL;
}

/* The alarm ends a child that waits for a lock whose holder is not there. */
static int draw_in_child(void *unused)
{
    uint8_t out[LEN];
    (void)unused;
    fake_in_thread_start = NULL;
    (void)alarm(CHILD_SECONDS);
    return drng_random_bytes(forked, 0, out, sizeof(out), 0) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void a_fork_under_the_lock_leaves_the_child_a_free_one(void)
{
    pthread_t thread;
    forked = load();
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&inside, NULL, 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&outside, NULL, 2), 0);
    fake_in_thread_start = wait_with_the_lock;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_slowly, NULL), 0);
    (void)pthread_barrier_wait(&inside);
    CU_ASSERT_EQUAL(child_forked(draw_in_child, NULL), EXIT_SUCCESS);
    fake_in_thread_start = NULL;
    (void)pthread_barrier_wait(&outside);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(pthread_barrier_destroy(&inside), 0);
    CU_ASSERT_EQUAL(pthread_barrier_destroy(&outside), 0);
    unload(forked);
}

static const struct unit_test tests[] = {
    {"a short seed of the default source is none", a_short_seed_of_the_default_source_is_none},
    {"a thread that cannot be told of its end gets zeros", a_thread_that_cannot_be_told_of_its_end_gets_zeros},
    {"a fork under the lock leaves the child a free one", a_fork_under_the_lock_leaves_the_child_a_free_one},
};

UNIT_MAIN("core", tests)
