/* SPDX-License-Identifier: Apache-2.0 */
/* A core that gives less than it should, and a fork at a bad moment: while another thread makes a pair. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "provider/provctx.h"
#include "provider/rand/random_bytes.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { LEN = 32, CHILD_SECONDS = 20 };

static struct drng_provctx *load(void)
{
    fake_core_set(NULL, NULL);
    struct drng_provctx *provctx = drng_provctx_new(fake_handle, fake_core);
    CU_ASSERT_PTR_NOT_NULL_FATAL(provctx);
    CU_ASSERT_TRUE_FATAL(drng_pairs_open(provctx));
    return provctx;
}

static void unload(struct drng_provctx *provctx)
{
    drng_pairs_close(provctx);
    drng_provctx_free(provctx);
}

UNIT_TEST("a short seed of the default source is none")
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

UNIT_TEST("no thread is cancelled in the default source")
{
    uint8_t out[LEN];
    struct drng_provctx *provctx = load();
    memset(provctx->policy.instructions, 0, sizeof(provctx->policy.instructions));
    fake_entropy_calls = 0;
    fake_entropy_cancellable = 0;
    CU_ASSERT_EQUAL(drng_random_bytes(provctx, 0, out, sizeof(out), 0), 1);
    CU_ASSERT_NOT_EQUAL(fake_entropy_calls, 0);
    CU_ASSERT_EQUAL(fake_entropy_cancellable, 0);
    unload(provctx);
}

/* ---- A fork while another thread holds the lock of the pairs ---- */

static struct drng_provctx *forked;
static pthread_barrier_t inside;
static pthread_barrier_t outside;

static void *hold_the_lock(void *unused)
{
    struct drng_lock *lock = drng_process_lock(DRNG_LOCK_PAIRS);
    CU_ASSERT_TRUE(drng_lock(lock));
    (void)pthread_barrier_wait(&inside);
    (void)pthread_barrier_wait(&outside);
    drng_unlock(lock);
    return unused;
}

/* A first draw, and the end of what it made. The alarm ends a child that waits for a lock whose holder is not there. */
static int draw_in_child(void *unused)
{
    uint8_t out[LEN];
    (void)alarm(CHILD_SECONDS);
    if (drng_random_bytes(forked, 0, out, sizeof(out), 0) != 1) {
        return EXIT_FAILURE;
    }
    unload(forked);
    return EXIT_SUCCESS;
}

UNIT_TEST("a fork under the lock leaves the child a free one")
{
    pthread_t thread;
    forked = load();
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&inside, NULL, 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&outside, NULL, 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, hold_the_lock, NULL), 0);
    (void)pthread_barrier_wait(&inside);
    CU_ASSERT_EQUAL(child_forked(draw_in_child, NULL), EXIT_SUCCESS);
    (void)pthread_barrier_wait(&outside);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(pthread_barrier_destroy(&inside), 0);
    CU_ASSERT_EQUAL(pthread_barrier_destroy(&outside), 0);
    unload(forked);
}

UNIT_MAIN("core")
