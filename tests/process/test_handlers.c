/*
 * Two signal handlers in a child that was forked in the middle of a request, and that goes on in it. The first draws
 * right after the fork. The second draws when the interrupted request has written its Key and V, which are those of the
 * parent's next request, and has not seen yet that this is another process.
 *
 * AES is the provider's own, with two places at which a handler may come: before and after it writes Key and V.
 */

#define _GNU_SOURCE

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>

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

static const struct unit_test tests[] = {
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
