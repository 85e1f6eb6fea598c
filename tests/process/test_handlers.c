/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signal handlers that draw where another request is under way.
 *
 * First: two of them in a child that was forked in the middle of a request, and that goes on in it. The first draws
 * right after the fork. The second draws when the interrupted request has written its Key and V, which are those of the
 * parent's next request, and has not seen yet that this is another process. Both are refused.
 *
 * Then: one that comes in the process itself, before and after its thread takes the lock of a generator, and before and
 * after it gives the lock back, while another thread is in the middle of its request. It is refused, or served with
 * bytes of its own.
 *
 * AES is the provider's own, with two places at which a handler may come: before and after it writes Key and V.
 */

#define _GNU_SOURCE

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/seed.h"
#include "mixing/machine/wipe.h"
#include "provider/process.h"
#include "tests/process/pool.h"
#include "tests/provider/evp.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { BLOCK = 16, SHORT = POOL_DRAW, FAILED = 1, WATCHDOG = 60 /* seconds */ };

static const struct drng_aes *real;
static OSSL_LIB_CTX *libctx;
static EVP_RAND_CTX *rand_ctx;
static bool armed;
static bool bare; /* the child is made by the system call, of which the C library learns nothing */
static pid_t child = -1;

static bool draw(void)
{
    unsigned char out[POOL_DRAW];
    return EVP_RAND_generate(rand_ctx, out, sizeof(out), 0, 0, NULL, 0) == 1 && pool_add(out);
}

static void draw_in_handler(void)
{
    unsigned char out[POOL_DRAW];
    memset(out, 0xaa, sizeof(out));
    if (EVP_RAND_generate(rand_ctx, out, sizeof(out), 0, 0, NULL, 0) == 1 || !bytes_are(out, sizeof(out), 0)) {
        _exit(FAILED);
    }
}

static bool forked_here(void)
{
    if (armed) {
        armed = false;
        child = bare ? CHILD_RAW_CLONE(SIGCHLD) : fork();
        return child == 0;
    }
    return false;
}

/* The other thread, in the middle of its request. */
static sem_t in_the_middle;
static sem_t goes_on;
static bool other_thread_stops;

static void stop_here(void)
{
    if (other_thread_stops) {
        other_thread_stops = false;
        (void)sem_post(&in_the_middle);
        (void)sem_wait(&goes_on);
    }
}

/* A handler that reaches a cancellation point, which the pages forbid. */
static _Thread_local bool is_cancelled_here;

static void end_here(void)
{
    if (is_cancelled_here) {
        is_cancelled_here = false;
        (void)pthread_cancel(pthread_self());
        pthread_testcancel();
    }
}

/* Keystream, and the next Key and V behind it, by the mode that every implementation has. */
static uint8_t *run(const uint8_t *key, size_t key_len, const uint8_t v[BLOCK], uint8_t *stream, size_t blocks,
                    const uint8_t *fresh)
{
    uint8_t counter[BLOCK];
    uint8_t *next = stream + blocks * BLOCK;
    memcpy(counter, v, BLOCK);
    real->ctr(key, key_len, counter, stream, blocks, next, (key_len + BLOCK - 1) / BLOCK + 1);
    for (size_t i = 0; fresh != NULL && i < DRNG_REQUEST_ENTROPY_LEN; i++) {
        next[i] ^= fresh[i];
    }
    return next;
}

static void request(uint8_t *key, size_t key_len, uint8_t v[BLOCK], uint8_t *out, size_t out_len, const uint8_t *fresh)
{
    uint8_t stream[SHORT + 3 * BLOCK];
    uint8_t *next = NULL;
    if (fresh != NULL) {
        next = run(key, key_len, v, stream, 0, fresh);
        memcpy(key, next, key_len);
        memcpy(v, next + key_len, BLOCK);
    }
    next = run(key, key_len, v, stream, (out_len + BLOCK - 1) / BLOCK, fresh);
    if (out_len > 0) {
        memcpy(out, stream, out_len);
    }
    const bool is_child = out_len > 0 && forked_here();
    if (is_child) {
        draw_in_handler();
    }
    stop_here();
    end_here();
    memcpy(key, next, key_len);
    memcpy(v, next + key_len, BLOCK);
    if (is_child) {
        draw_in_handler();
    }
}

/* The request that is interrupted, and the next one, of parent and child. */
static void assert_all_differ(bool by_clone, bool locking)
{
    int status = -1;
    rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    CU_ASSERT_TRUE(!locking || EVP_RAND_enable_locking(rand_ctx) == 1);
    CU_ASSERT_TRUE(draw());
    bare = by_clone;
    armed = true;
    const bool drew = draw() && draw();
    if (child == 0) {
        _exit(drew ? 0 : FAILED);
    }
    CU_ASSERT_TRUE(drew);
    CU_ASSERT_TRUE(child > 0 && waitpid(child, &status, 0) == child);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CU_ASSERT_EQUAL(pool_size(), 3 + 2);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    EVP_RAND_CTX_free(rand_ctx);
}

UNIT_TEST("two handlers in a child of fork()")
{
    assert_all_differ(false, false);
}

UNIT_TEST("two handlers in a child of clone()")
{
    if (!drng_fork_kernel_wipes) {
        return; /* a child of clone() is not noticed there */
    }
    assert_all_differ(true, false);
}

UNIT_TEST("two handlers in a child, under a lock")
{
    assert_all_differ(false, true);
}

/* ---- In the process itself ---- */

/* Where the handler comes. */
enum moment { BEFORE_LOCK, AFTER_LOCK, BEFORE_UNLOCK, AFTER_UNLOCK, MOMENTS };

static _Thread_local void (*handlers[MOMENTS])(void); /* of the thread that they are to interrupt */

static void let_come(enum moment moment)
{
    void (*const comes)(void) = handlers[moment];
    handlers[moment] = NULL;
    if (comes != NULL) {
        comes();
    }
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    let_come(BEFORE_LOCK);
    const int result = __real_pthread_mutex_lock(mutex);
    let_come(AFTER_LOCK);
    return result;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    let_come(BEFORE_UNLOCK);
    const int result = __real_pthread_mutex_unlock(mutex);
    let_come(AFTER_UNLOCK);
    return result;
}

static bool handler_came;
static bool handler_served;

/* Refused: with zeros, and no error, since raising one would allocate memory, and so may its thread. */
static void draw_in_process(void)
{
    unsigned char out[POOL_DRAW];
    memset(out, 0xaa, sizeof(out));
    handler_came = true;
    handler_served = EVP_RAND_generate(rand_ctx, out, sizeof(out), 0, 0, NULL, 0) == 1;
    if (handler_served) {
        CU_ASSERT_FALSE(bytes_are(out, sizeof(out), 0));
        CU_ASSERT_TRUE(pool_add(out));
    } else {
        CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
        for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error()) {
            CU_ASSERT_EQUAL(ERR_GET_LIB(error), ERR_LIB_EVP); /* libcrypto's own, of which no provider knows */
        }
    }
}

/* ---- A thread that is cancelled in a handler ---- */

static bool cleanup_was_refused;

static void draw_in_cleanup(void *unused)
{
    unsigned char out[POOL_DRAW];
    memset(out, 0xaa, sizeof(out));
    cleanup_was_refused =
        EVP_RAND_generate(rand_ctx, out, sizeof(out), 0, 0, NULL, 0) == 0 && bytes_are(out, sizeof(out), 0);
}

static void *be_cancelled_in_a_draw(void *unused)
{
    pthread_cleanup_push(draw_in_cleanup, unused);
    is_cancelled_here = true;
    (void)draw();
    pthread_cleanup_pop(0);
    return unused;
}

/* Its cleanup handlers and destructors are refused, and nobody else is; under a lock it is not cancelled at all. */
UNIT_TEST("a thread that is cancelled in a handler is refused to its end")
{
    for (unsigned locking = 0; locking < 2; locking++) {
        pthread_t thread;
        void *ended = NULL;
        rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
        CU_ASSERT_TRUE(locking == 0 || EVP_RAND_enable_locking(rand_ctx) == 1);
        cleanup_was_refused = false;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, be_cancelled_in_a_draw, NULL), 0);
        CU_ASSERT_EQUAL(pthread_join(thread, &ended), 0);
        CU_ASSERT_EQUAL(ended == PTHREAD_CANCELED && cleanup_was_refused, locking == 0);
        CU_ASSERT_TRUE(draw());
        CU_ASSERT_EQUAL(pool_duplicates(), 0);
        EVP_RAND_CTX_free(rand_ctx);
    }
}

static pthread_t other;
static bool other_drew;

static void *draw_in_thread(void *unused)
{
    other_drew = draw();
    return unused;
}

static void start_other_thread(void)
{
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, draw_in_thread, NULL), 0);
}

/* It has the lock then. */
static void let_other_thread_get_to_the_middle(void)
{
    other_thread_stops = true;
    start_other_thread();
    (void)sem_wait(&in_the_middle);
}

static void draw_and_let_the_other_go_on(void)
{
    draw_in_process();
    (void)sem_post(&goes_on);
}

static void draw_beside_the_next_holder(void)
{
    let_other_thread_get_to_the_middle();
    draw_and_let_the_other_go_on();
}

/* Another thread waits for the lock, or is about to. */
static void draw_before_the_next_holder(void)
{
    start_other_thread();
    draw_in_process();
}

/* One request with a handler in it and one of another thread, and one after them. */
static void play_moment(const char *name, enum moment moment, void (*handler)(void), bool other_is_first)
{
    rand_ctx = evp_rand_ready(libctx, name, "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(rand_ctx), 1);
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_TRUE(sem_init(&in_the_middle, 0, 0) == 0 && sem_init(&goes_on, 0, 0) == 0);
    handler_came = handler_served = other_drew = false;
    if (other_is_first) {
        let_other_thread_get_to_the_middle();
    }
    handlers[moment] = handler;
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_EQUAL(pthread_join(other, NULL), 0);
    CU_ASSERT_TRUE(handler_came && other_drew && draw());
    CU_ASSERT_EQUAL(pool_size(), 4U + handler_served);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    EVP_RAND_CTX_free(rand_ctx);
}

UNIT_TEST("a handler while its thread waits for the lock")
{
    play_moment("CTR-DRBG", BEFORE_LOCK, draw_and_let_the_other_go_on, true);
}

UNIT_TEST("a handler when its thread has just taken the lock")
{
    play_moment("CTR-DRBG", AFTER_LOCK, draw_before_the_next_holder, false);
}

UNIT_TEST("a handler when its thread is about to give it back")
{
    play_moment("CTR-DRBG", BEFORE_UNLOCK, draw_before_the_next_holder, false);
}

UNIT_TEST("a handler when its thread has given the lock back")
{
    play_moment("CTR-DRBG", AFTER_UNLOCK, draw_beside_the_next_holder, false);
}

/* The same for the reader of a seed source. */
UNIT_TEST("a handler in a request for a seed")
{
    for (enum moment moment = BEFORE_LOCK; moment < MOMENTS; moment++) {
        play_moment("DRNG-SEED", moment, draw_before_the_next_holder, false);
    }
}

static void (*while_seeding)(void);

/* Linked with --wrap. */
enum drng_result __real_drng_root_seed(struct drng_root *root, const struct drng_guard *guard, uint8_t *out,
                                       size_t len);
enum drng_result __wrap_drng_root_seed(struct drng_root *root, const struct drng_guard *guard, uint8_t *out,
                                       size_t len);

enum drng_result __wrap_drng_root_seed(struct drng_root *root, const struct drng_guard *guard, uint8_t *out, size_t len)
{
    if (while_seeding != NULL) {
        void (*const comes)(void) = while_seeding;
        while_seeding = NULL;
        comes();
    }
    return __real_drng_root_seed(root, guard, out, len);
}

/* The default seed source allocates memory. */
UNIT_TEST("a handler while its thread takes a seed raises no error")
{
    rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    handler_came = handler_served = false;
    while_seeding = draw_in_process;
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand_ctx, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_TRUE(handler_came && !handler_served && draw());
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    EVP_RAND_CTX_free(rand_ctx);
}

/* ---- While a generator's parameters are looked at ---- */

UNIT_TEST("a handler while its thread looks at parameters")
{
    rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(rand_ctx), 1);
    for (enum moment moment = BEFORE_LOCK; moment < MOMENTS; moment++) {
        handler_came = false;
        handlers[moment] = draw_in_process;
        CU_ASSERT_EQUAL(EVP_RAND_get_strength(rand_ctx), 256);
        CU_ASSERT_TRUE(handler_came);
        CU_ASSERT_TRUE(draw());
    }
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    EVP_RAND_CTX_free(rand_ctx);
}

static void *limit_requests(void *unused)
{
    CU_ASSERT_TRUE(evp_set_uint(rand_ctx, OSSL_DRBG_PARAM_RESEED_REQUESTS, 77));
    return unused;
}

static void let_another_thread_limit_requests(void)
{
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, limit_requests, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(other, NULL), 0);
}

static char aes_128[] = "AES-128-CTR";
static char aes_192[] = "AES-192-CTR";

static int use_aes_128(void)
{
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, aes_128, 0),
                                 OSSL_PARAM_construct_end()};
    return EVP_RAND_CTX_set_params(rand_ctx, params);
}

static int instantiate_with(char *cipher)
{
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    return EVP_RAND_instantiate(rand_ctx, 0, 0, NULL, 0, params);
}

static void *instantiate_with_aes_128(void *unused)
{
    CU_ASSERT_EQUAL(instantiate_with(aes_128), 1);
    return unused;
}

static void let_another_thread_instantiate(void)
{
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, instantiate_with_aes_128, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(other, NULL), 0);
}

/* The first thread has read its parameters then. One of the two gets the generator, with its own cipher. */
UNIT_TEST("two threads instantiate with other ciphers")
{
    rand_ctx = evp_rand(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(rand_ctx), 1);
    handlers[AFTER_UNLOCK] = let_another_thread_instantiate;
    CU_ASSERT_EQUAL(instantiate_with(aes_192), 0);
    CU_ASSERT_EQUAL(EVP_RAND_get_strength(rand_ctx), 128);
    CU_ASSERT_TRUE(draw());
    EVP_RAND_CTX_free(rand_ctx);
}

/* The first thread has read them then, and not set them yet. */
UNIT_TEST("two threads set other parameters")
{
    rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(rand_ctx), 1);
    handlers[AFTER_UNLOCK] = let_another_thread_limit_requests;
    CU_ASSERT_EQUAL(use_aes_128(), 1);
    CU_ASSERT_EQUAL(evp_size(rand_ctx, OSSL_DRBG_PARAM_RESEED_REQUESTS), 77);
    CU_ASSERT_EQUAL(EVP_RAND_get_strength(rand_ctx), 128);
    EVP_RAND_CTX_free(rand_ctx);
}

static void *weaken(void *unused)
{
    CU_ASSERT_EQUAL(use_aes_128(), 1);
    return unused;
}

static void let_another_thread_weaken_it(void)
{
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, weaken, NULL), 0);
    CU_ASSERT_EQUAL(pthread_join(other, NULL), 0);
}

/* The strength of a request is compared with that of the generator which serves it, and not of one before it. */
UNIT_TEST("another thread weakens a generator before it serves")
{
    unsigned char out[POOL_DRAW];
    rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(rand_ctx), 1);
    handlers[BEFORE_LOCK] = let_another_thread_weaken_it;
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand_ctx, out, sizeof(out), 256, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(drng_is_wiped(out, sizeof(out)));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand_ctx, out, sizeof(out), 128, 0, NULL, 0), 1);
    EVP_RAND_CTX_free(rand_ctx);
}

int main(void)
{
    (void)alarm(WATCHDOG); /* a handler that waits for its own thread ends here */
    evp_be_quiet();
    libctx = evp_context("request_mixing = no\n"); /* fresh words would part them, too */
    if (libctx == NULL || !pool_open()) {
        return 1;
    }
    real = drng_process.machine.aes;
    struct drng_aes with_handlers = *real;
    with_handlers.request = request;
    with_handlers.short_len = SHORT;
    drng_process.machine.aes = &with_handlers;
    const int result = unit_run("handlers");
    drng_process.machine.aes = real;
    pool_close();
    OSSL_LIB_CTX_free(libctx);
    return result;
}
