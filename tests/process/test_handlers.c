/*
 * Signal handlers that draw where another request is under way.
 *
 * First: two of them in a child that was forked in the middle of a request, and that goes on in it. The first draws
 * right after the fork. The second draws when the interrupted request has written its Key and V, which are those of the
 * parent's next request, and has not seen yet that this is another process.
 *
 * Then: one that comes while its thread waits for the lock of a generator, or of a reader of seeds, which another
 * thread is using.
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

#include <openssl/evp.h>

#include "mixing/entropy/shared_reader.h"
#include "provider/process.h"
#include "tests/process/pool.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { BLOCK = 16, SHORT = POOL_DRAW, FAILED = 1 };

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
    if (!draw()) {
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

static void request(uint8_t *key, size_t key_len, uint8_t v[BLOCK], uint8_t *out, size_t out_len,
                    const uint8_t *provided)
{
    uint8_t counter[BLOCK];
    uint8_t stream[SHORT + 3 * BLOCK];
    const size_t blocks = (out_len + BLOCK - 1) / BLOCK;
    uint8_t *next = stream + blocks * BLOCK;
    memcpy(counter, v, BLOCK);
    real->ctr(key, key_len, counter, stream, blocks, next, (key_len + BLOCK - 1) / BLOCK + 1);
    for (size_t i = 0; provided != NULL && i < key_len + BLOCK; i++) {
        next[i] ^= provided[i];
    }
    if (out_len > 0) {
        memcpy(out, stream, out_len);
    }
    const bool is_child = out_len > 0 && forked_here();
    if (is_child) {
        draw_in_handler();
    }
    stop_here();
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
    CU_ASSERT_EQUAL(pool_size(), 3 + 4);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    EVP_RAND_CTX_free(rand_ctx);
}

static void two_handlers_in_a_child_of_fork(void)
{
    assert_all_differ(false, false);
}

static void two_handlers_in_a_child_of_clone(void)
{
    assert_all_differ(true, false);
}

static void two_handlers_in_a_child_of_a_locked_generator(void)
{
    assert_all_differ(false, true);
}

/* ---- While a thread waits for the lock ---- */

static void (*handler)(void);

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    void (*const comes)(void) = handler;
    handler = NULL;
    if (comes != NULL) {
        comes();
    }
    return __real_pthread_mutex_lock(mutex);
}

static bool handler_drew;

static void draw_and_let_go_on(void)
{
    handler_drew = draw();
    (void)sem_post(&goes_on);
}

static void *draw_in_thread(void *drew)
{
    *(bool *)drew = draw();
    return NULL;
}

static void a_handler_while_its_thread_waits_for_the_lock(void)
{
    pthread_t other;
    bool drew = false;
    rand_ctx = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand_ctx);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(rand_ctx), 1);
    CU_ASSERT_TRUE(sem_init(&in_the_middle, 0, 0) == 0 && sem_init(&goes_on, 0, 0) == 0);
    other_thread_stops = true;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, draw_in_thread, &drew), 0);
    (void)sem_wait(&in_the_middle);
    handler = draw_and_let_go_on;
    CU_ASSERT_TRUE(draw());
    CU_ASSERT_EQUAL(pthread_join(other, NULL), 0);
    CU_ASSERT_TRUE(drew && handler_drew && draw());
    CU_ASSERT_EQUAL(pool_size(), 4);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    EVP_RAND_CTX_free(rand_ctx);
}

static struct drng_shared_reader shared;
static const struct drng_seed_reader *used;

static enum drng_result note_reader(void *unused, struct drng_seed_reader *reader)
{
    (void)unused;
    used = reader;
    return DRNG_OK;
}

static void use_reader(void)
{
    CU_ASSERT_EQUAL(drng_shared_reader_run(&shared, note_reader, NULL), DRNG_OK);
}

static void a_handler_while_its_thread_waits_for_a_reader(void)
{
    struct drng_reader_slot *slot = drng_secmem_alloc();
    CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
    shared.slot = slot;
    handler = use_reader;
    CU_ASSERT_TRUE(drng_lock(&slot->lock));
    CU_ASSERT_PTR_NOT_NULL(used);
    CU_ASSERT_PTR_NOT_EQUAL(used, &slot->reader);
    use_reader();
    CU_ASSERT_PTR_EQUAL(used, &slot->reader);
    drng_unlock(&slot->lock);
    drng_secmem_free(slot);
}

/* In the child that a signal handler forks, another one comes before this goes on. */
static enum drng_result fork_and_use_reader(void *child_used, struct drng_seed_reader *reader)
{
    if (child == 0) {
        used = reader;
        return DRNG_OK;
    }
    child = fork();
    if (child == 0) {
        use_reader();
        *(bool *)child_used = used == &shared.slot->reader;
    }
    return DRNG_OK;
}

static void two_handlers_in_the_middle_of_a_use(void)
{
    int status = -1;
    bool used_in_handler = false;
    shared = (struct drng_shared_reader){.slot = drng_secmem_alloc()};
    CU_ASSERT_PTR_NOT_NULL_FATAL(shared.slot);
    child = -1;
    CU_ASSERT_EQUAL(drng_shared_reader_run(&shared, fork_and_use_reader, &used_in_handler), DRNG_OK);
    if (child == 0) {
        _exit(!used_in_handler && used == &shared.slot->reader ? 0 : FAILED);
    }
    CU_ASSERT_TRUE(child > 0 && waitpid(child, &status, 0) == child);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    drng_secmem_free(shared.slot);
}

static const struct unit_test tests[] = {
    {"a handler while its thread waits for the lock", a_handler_while_its_thread_waits_for_the_lock},
    {"a handler while its thread waits for a reader", a_handler_while_its_thread_waits_for_a_reader},
    {"two handlers in the middle of a reader's use", two_handlers_in_the_middle_of_a_use},
    {"two handlers in a child of fork()", two_handlers_in_a_child_of_fork},
    {"two handlers in a child of clone()", two_handlers_in_a_child_of_clone},
    {"two handlers in a child, under a lock", two_handlers_in_a_child_of_a_locked_generator},
};

int main(void)
{
    libctx = evp_context("request_mixing = no\n"); /* fresh words would part them, too */
    if (libctx == NULL || !pool_open()) {
        return 1;
    }
    real = drng_process.aes;
    struct drng_aes with_handlers = *real;
    with_handlers.request = request;
    with_handlers.short_len = SHORT;
    drng_process.aes = &with_handlers;
    const int result = unit_run("handlers", tests, sizeof(tests) / sizeof(*tests));
    drng_process.aes = real;
    pool_close();
    OSSL_LIB_CTX_free(libctx);
    return result;
}
