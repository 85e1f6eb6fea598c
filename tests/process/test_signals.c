/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that share a locked CTR-DRBG, and signals at a high rate, whose handler draws from it, too: no 16 bytes
 * come out twice, whoever has drawn them. A handler that comes into its thread's draw is refused, with zeros.
 */

#define _GNU_SOURCE

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum {
    THREADS = 2,
    BLOCK = 16,
    DRAWS = 500000,        /* of each thread, at most */
    HANDLER_DRAWS = 30000, /* of all handlers, those that are refused too: then it is enough */
    SLOWER = 20,           /* under a tool: so many times fewer */
    INTERVAL_NS = 40000,   /* between two signals to one thread */
    BLOCKS = THREADS * DRAWS + HANDLER_DRAWS,
};

static EVP_RAND_CTX *rand_ctx;
static unsigned char (*blocks)[BLOCK];
static atomic_size_t count;

static unsigned draws;
static unsigned handler_draws;
static atomic_uint handlers; /* that have drawn */
static atomic_uint refused;
static atomic_uint not_zeros; /* of those that were refused */
static atomic_uint failed;    /* draws of threads */

/* 1: the draw is noted; 0: it was refused. */
static int draw(void)
{
    unsigned char out[BLOCK];
    memset(out, 0xaa, sizeof(out));
    if (EVP_RAND_generate(rand_ctx, out, sizeof(out), 0, 0, NULL, 0) == 1) {
        memcpy(blocks[atomic_fetch_add(&count, 1)], out, sizeof(out));
        return 1;
    }
    atomic_fetch_add(&not_zeros, !bytes_are(out, sizeof(out), 0));
    return 0;
}

static void draw_in_handler(int unused)
{
    if (atomic_fetch_add(&handlers, 1) < handler_draws) {
        atomic_fetch_add(&refused, !draw());
    }
}

/* Signals to the calling thread. */
static bool start_timer(timer_t *timer)
{
    const struct itimerspec often = {{0, INTERVAL_NS}, {0, INTERVAL_NS}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    return timer_create(CLOCK_MONOTONIC, &event, timer) == 0 && timer_settime(*timer, 0, &often, NULL) == 0;
}

static void *draw_in_thread(void *unused)
{
    timer_t timer;
    ERR_clear_error(); /* the thread's queue is made here, and not in a handler */
    if (!start_timer(&timer)) {
        atomic_fetch_add(&failed, 1);
        return unused;
    }
    for (unsigned i = 0; i < draws && atomic_load(&handlers) < handler_draws; i++) {
        atomic_fetch_add(&failed, !draw());
    }
    (void)timer_delete(timer);
    return unused;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, BLOCK);
}

static size_t equal_blocks(void)
{
    const size_t size = atomic_load(&count);
    size_t equal = 0;
    qsort(blocks, size, BLOCK, compare);
    for (size_t i = 0; i < size; i++) {
        equal += bytes_are(blocks[i], BLOCK, 0) || (i > 0 && compare(blocks[i - 1], blocks[i]) == 0);
    }
    return equal;
}

static void draw_under_signals(const char *keys)
{
    pthread_t threads[THREADS];
    const struct sigaction action = {.sa_handler = draw_in_handler, .sa_flags = SA_RESTART};
    OSSL_LIB_CTX *libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    blocks = calloc(BLOCKS, BLOCK);
    CU_ASSERT_TRUE_FATAL(rand_ctx != NULL && blocks != NULL && EVP_RAND_enable_locking(rand_ctx) == 1);
    /* The default seed source allocates memory: libcrypto's own error for a handler that is refused meanwhile does so,
     * too. */
    if (strcmp(evp_text(libctx, "active-source"), "fallback") == 0) {
        CU_ASSERT_TRUE(evp_set_uint(rand_ctx, OSSL_DRBG_PARAM_RESEED_REQUESTS, 0));
    }
    const unsigned slower = kernel_is_instrumented() || unit_samples() ? SLOWER : 1;
    draws = DRAWS / slower;
    handler_draws = HANDLER_DRAWS / slower;
    atomic_store(&count, 0);
    atomic_store(&handlers, 0);
    atomic_store(&refused, 0);
    CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &action, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, draw_in_thread, NULL), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    CU_ASSERT_EQUAL(atomic_load(&failed), 0);
    CU_ASSERT_EQUAL(atomic_load(&not_zeros), 0);
    CU_ASSERT_TRUE(atomic_load(&refused) > 0 ||
                   unit_emulated("it takes signals where it likes, which may be outside of each draw"));
    CU_ASSERT_EQUAL(equal_blocks(), 0);
    (void)printf("%zu draws, and %u of handlers, %u of them refused ", atomic_load(&count), atomic_load(&handlers),
                 atomic_load(&refused));
    free(blocks);
    EVP_RAND_CTX_free(rand_ctx);
    OSSL_LIB_CTX_free(libctx);
}

UNIT_TEST("a handler draws beside threads")
{
    draw_under_signals("request_mixing = no\n");
}

/* ThreadSanitizer, where it is linked in, asks for its options here: what it hears of is the test's own handler. */

const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}

int main(void)
{
    evp_be_quiet();
    return unit_run("signals");
}
