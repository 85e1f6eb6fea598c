/* SPDX-License-Identifier: Apache-2.0 */
/* OSSL_FUNC_PROVIDER_RANDOM_BYTES, called as OpenSSL 3.5 calls it; the headers and libcrypto may be older. */

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mixing/drbg/ctr_drbg.h"
#include "provider/errors.h"
#include "provider/observe/stats.h"
#include "provider/rand/random_bytes.h"
#include "tests/provider/evp.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

extern OSSL_provider_init_fn OSSL_provider_init;

typedef int random_bytes_fn(void *provctx, int which, void *buffer, size_t len, unsigned strength);
typedef void teardown_fn(void *provctx);

struct instance {
    void *provctx;
    random_bytes_fn *random_bytes;
    teardown_fn *teardown;
};

static struct instance load(void)
{
    struct instance instance = {0};
    const OSSL_DISPATCH *functions = NULL;
    fake_core_set(NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(OSSL_provider_init(fake_handle, fake_core, &functions, &instance.provctx), 1);
    for (; functions->function_id != 0; functions++) {
        if (functions->function_id == 1032) {
            instance.random_bytes = (random_bytes_fn *)functions->function;
        } else if (functions->function_id == OSSL_FUNC_PROVIDER_TEARDOWN) {
            instance.teardown = (teardown_fn *)functions->function;
        }
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(instance.random_bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(instance.teardown);
    return instance;
}

UNIT_TEST("public and private bytes differ")
{
    struct instance in = load();
    unsigned char a[100] = {0};
    unsigned char b[100] = {0};
    CU_ASSERT_EQUAL(in.random_bytes(in.provctx, OSSL_PROV_RANDOM_PUBLIC, a, sizeof(a), 0), 1);
    CU_ASSERT_EQUAL(in.random_bytes(in.provctx, OSSL_PROV_RANDOM_PRIVATE, b, sizeof(b), 256), 1);
    CU_ASSERT_FALSE(bytes_are(a, sizeof(a), 0) || bytes_are(b, sizeof(b), 0));
    CU_ASSERT_NOT_EQUAL(memcmp(a, b, sizeof(a)), 0);
    in.teardown(in.provctx);
}

UNIT_TEST("a long request is served whole")
{
    static unsigned char out[300001];
    struct instance in = load();
    memset(out, 0, sizeof(out));
    CU_ASSERT_EQUAL(in.random_bytes(in.provctx, 0, out, sizeof(out) - 1, 0), 1);
    for (size_t i = 0; i + 16 < sizeof(out); i += 10000) {
        CU_ASSERT_FALSE(bytes_are(out + i, 16, 0));
    }
    CU_ASSERT_EQUAL(out[sizeof(out) - 1], 0);
    CU_ASSERT_EQUAL(in.random_bytes(in.provctx, 0, out, 0, 0), 1);
    in.teardown(in.provctx);
}

UNIT_TEST("too much strength is refused")
{
    unsigned char out[32];
    struct instance in = load();
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(in.random_bytes(in.provctx, 0, out, sizeof(out), 257), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_STRENGTH_TOO_HIGH);
    in.teardown(in.provctx);
}

UNIT_TEST("two instances take turns in one thread")
{
    struct instance x = load();
    struct instance y = load();
    unsigned char out[4][32];
    for (size_t i = 0; i < 4; i++) {
        struct instance *in = i % 2 == 0 ? &x : &y;
        CU_ASSERT_EQUAL(in->random_bytes(in->provctx, 0, out[i], sizeof(out[i]), 0), 1);
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_NOT_EQUAL(memcmp(out[i], out[j], sizeof(out[i])), 0);
        }
    }
    x.teardown(x.provctx);
    y.teardown(y.provctx);
}

/* Unloaded under a thread that lives on: its way to the generators must not lead to what was freed. */
UNIT_TEST("an instance can go before its threads")
{
    unsigned char out[32];
    for (int i = 0; i < 3; i++) {
        struct instance in = load();
        CU_ASSERT_EQUAL(in.random_bytes(in.provctx, 0, out, sizeof(out), 0), 1);
        in.teardown(in.provctx);
    }
}

struct job {
    struct instance *in;
    unsigned char out[2][32];
    int served;
};

static void *draw_in_thread(void *arg)
{
    struct job *job = arg;
    job->served = job->in->random_bytes(job->in->provctx, 0, job->out[0], 32, 0) +
                  job->in->random_bytes(job->in->provctx, 1, job->out[1], 32, 0);
    return NULL;
}

UNIT_TEST("no two threads draw the same")
{
    enum { THREADS = 16 };
    struct instance in = load();
    struct job jobs[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        jobs[i].in = &in;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, draw_in_thread, &jobs[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_EQUAL(jobs[i].served, 2);
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_NOT_EQUAL(memcmp(jobs[i].out[0], jobs[j].out[0], 32), 0);
        }
    }
    in.teardown(in.provctx);
}

/* Forks before the second part of a request, as a signal handler might. */
static unsigned parts;
static pid_t child = -1;

/* Where a request of LEFT bytes jumps to, as a signal handler might. */
enum { LEFT = 777 };
static jmp_buf out_of_it;

enum drng_result __real_drng_ctr_drbg_generate_any(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                                   struct drng_bytes additional, const uint8_t *fresh);

enum drng_result __wrap_drng_ctr_drbg_generate_any(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                                   struct drng_bytes additional, const uint8_t *fresh)
{
    if (out_len == DRNG_DRBG_MAX_REQUEST && parts++ == 1) {
        child = fork();
    }
    if (out_len == LEFT) {
        longjmp(out_of_it, 1);
    }
    return __real_drng_ctr_drbg_generate_any(drbg, out, out_len, additional, fresh);
}

UNIT_TEST("a child shares no part of a long request")
{
    enum { HEAD = 64, MOST = 2 * DRNG_DRBG_MAX_REQUEST };
    static unsigned char out[MOST];
    unsigned char head[2][HEAD] = {{0}};
    int ends[2];
    int status = -1;
    struct instance in = load();
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    parts = 0;
    const int served = in.random_bytes(in.provctx, 0, out, sizeof(out), 0);
    if (child == 0) {
        _exit(served == 1 && write(ends[1], out, HEAD) == HEAD ? 0 : 1);
    }
    CU_ASSERT_EQUAL(served, 1);
    CU_ASSERT_TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    memcpy(head[0], out, HEAD);
    CU_ASSERT_EQUAL(read(ends[0], head[1], HEAD), HEAD);
    CU_ASSERT_NOT_EQUAL(memcmp(head[0], head[1], HEAD), 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    in.teardown(in.provctx);
}

/* In a child the pair is there, and its first draw takes a seed. */
static int draw_first(void *arg)
{
    const struct instance *in = arg;
    unsigned char out[32];
    return in->random_bytes(in->provctx, 0, out, sizeof(out), 0) == 1 && drng_stats.head->forks == 1 ? 0 : 1;
}

UNIT_TEST("a child's first draw tells of its seed")
{
    struct instance in = load();
    unsigned char out[32];
    CU_ASSERT_EQUAL(in.random_bytes(in.provctx, 0, out, sizeof(out), 0), 1);
    CU_ASSERT_EQUAL(child_forked(draw_first, &in), 0);
    in.teardown(in.provctx);
}

/* Draws for as long as the other thread wants. */
struct drawer {
    struct instance *in;
    pthread_barrier_t *turn;
    int served;
};

static void *draw_before_and_after(void *arg)
{
    struct drawer *drawer = arg;
    unsigned char out[32];
    drawer->served = drawer->in->random_bytes(drawer->in->provctx, 0, out, sizeof(out), 0);
    (void)pthread_barrier_wait(drawer->turn);
    (void)pthread_barrier_wait(drawer->turn);
    drawer->served += drawer->in->random_bytes(drawer->in->provctx, 0, out, sizeof(out), 0);
    return NULL;
}

static void *leave_a_draw(void *arg)
{
    const struct instance *in = arg;
    unsigned char out[LEFT];
    if (setjmp(out_of_it) == 0) {
        (void)in->random_bytes(in->provctx, 0, out, sizeof(out), 0);
    }
    fake_error_reason = 0;
    CU_ASSERT_EQUAL(in->random_bytes(in->provctx, 0, out, sizeof(out), 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(fake_error_reason, 0);
    in->teardown(in->provctx);
    return NULL;
}

/*
 * A thread that has left a draw does not free what other threads draw from. Its instance stays.
 */
UNIT_TEST("a thread that left a draw frees nothing")
{
    struct instance in = load();
    pthread_barrier_t turn;
    struct drawer drawer = {.in = &in, .turn = &turn};
    pthread_t other;
    pthread_t leaver;
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&turn, NULL, 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, draw_before_and_after, &drawer), 0);
    (void)pthread_barrier_wait(&turn);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&leaver, NULL, leave_a_draw, &in), 0);
    CU_ASSERT_EQUAL(pthread_join(leaver, NULL), 0);
    CU_ASSERT_NOT_EQUAL(atomic_load(&drng_stats.head->layout), 0);
    (void)pthread_barrier_wait(&turn);
    CU_ASSERT_EQUAL(pthread_join(other, NULL), 0);
    CU_ASSERT_EQUAL(drawer.served, 2);
    (void)pthread_barrier_destroy(&turn);
}

UNIT_MAIN("random_bytes")
