/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread costs while it lives: slots of the memory for secrets, and the heap that the provider takes beside
 * them.
 */

#define _GNU_SOURCE

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <openssl/rand.h>

#include "mixing/state/fork.h"
#include "provider/core.h"
#include "provider/provctx.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/unit/unit.h"

enum {
    THREADS = 24,
    PAIRS = 64,            /* of random_bytes.c */
    DRAWS_OF_A_THREAD = 2, /* a public generator and a private one, each with a slot */
    HEAP_MAX = 1024,       /* bytes a thread: what a careless member would go past */
};

static OSSL_LIB_CTX *libctx;
static struct drng_provctx *provctx;

/* ---- The provider's heap: the linker brings drng_core_init(), calloc() and free() here (--wrap) ---- */

static atomic_long heap;

static struct drng_core libcrypto;

static long size_of(void *memory)
{
    return (long)malloc_usable_size(memory);
}

static void *counting_zalloc(size_t size, const char *file, int line)
{
    void *memory = libcrypto.zalloc(size, file, line);
    atomic_fetch_add(&heap, size_of(memory));
    return memory;
}

static void counting_free(void *memory, const char *file, int line)
{
    atomic_fetch_sub(&heap, size_of(memory));
    libcrypto.free(memory, file, line);
}

void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);

void *__wrap_calloc(size_t count, size_t size)
{
    void *memory = __real_calloc(count, size);
    atomic_fetch_add(&heap, size_of(memory));
    return memory;
}

void __wrap_free(void *memory)
{
    atomic_fetch_sub(&heap, size_of(memory));
    __real_free(memory);
}

void __real_drng_core_init(struct drng_core *core, const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in);

void __wrap_drng_core_init(struct drng_core *core, const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in)
{
    __real_drng_core_init(&libcrypto, handle, in);
    *core = libcrypto;
    core->zalloc = counting_zalloc;
    core->free = counting_free;
}

/* ---- Threads that have drawn and go on living ---- */

/* NULL, or what failed. */
typedef void *thread_work(void);

static void *draw_by_rand_bytes(void)
{
    unsigned char out[32];
    const bool drew =
        RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1 && RAND_priv_bytes_ex(libctx, out, sizeof(out), 0) == 1;
    return drew ? NULL : &libctx;
}

static void *draw_by_random_bytes(void)
{
    unsigned char out[32];
    const bool drew = drng_random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, out, sizeof(out), 256) == 1 &&
                      drng_random_bytes(provctx, OSSL_PROV_RANDOM_PRIVATE, out, sizeof(out), 256) == 1;
    return drew ? NULL : &libctx;
}

static thread_work *work;
static pthread_barrier_t drawn;
static pthread_barrier_t measured;

static void *draw_and_wait(void *unused)
{
    void *failed = work();
    (void)pthread_barrier_wait(&drawn);
    (void)pthread_barrier_wait(&measured);
    return failed;
}

struct cost {
    unsigned slots;
    long heap;
};

static struct cost cost_now(void)
{
    return (struct cost){kernel_filled_slots(), atomic_load(&heap)};
}

/* What THREADS of them hold while they live, and what they leave behind. */
static void measure(thread_work *draws, struct cost *alive, struct cost *left)
{
    pthread_t threads[THREADS];
    work = draws;
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&drawn, NULL, THREADS + 1), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&measured, NULL, THREADS + 1), 0);
    /* What the first draw of all makes, the primary above all, is no thread's. */
    CU_ASSERT_PTR_NULL(draws());
    const struct cost before = cost_now();
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, draw_and_wait, NULL), 0);
    }
    (void)pthread_barrier_wait(&drawn);
    const struct cost during = cost_now();
    (void)pthread_barrier_wait(&measured);
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed = &libctx;
        CU_ASSERT_EQUAL(pthread_join(threads[i], &failed), 0);
        CU_ASSERT_PTR_NULL(failed);
    }
    const struct cost after = cost_now();
    *alive = (struct cost){during.slots - before.slots, during.heap - before.heap};
    *left = (struct cost){after.slots - before.slots, after.heap - before.heap};
    (void)pthread_barrier_destroy(&drawn);
    (void)pthread_barrier_destroy(&measured);
}

UNIT_TEST("a thread by RAND_bytes()")
{
    struct cost alive;
    struct cost left;
    measure(draw_by_rand_bytes, &alive, &left);
    CU_ASSERT_EQUAL(alive.slots, DRAWS_OF_A_THREAD * THREADS);
    CU_ASSERT_TRUE(alive.heap > 0);
    CU_ASSERT_TRUE(alive.heap < (long)HEAP_MAX * THREADS);
    CU_ASSERT_EQUAL(left.slots, 0);
    CU_ASSERT_EQUAL(left.heap, 0);
}

/* The pairs are the instance's: a thread costs nothing where those that were before it have made them all. */
UNIT_TEST("a thread by random_bytes")
{
    struct cost alive;
    struct cost left;
    measure(draw_by_random_bytes, &alive, &left);
    CU_ASSERT_EQUAL(alive.slots, DRAWS_OF_A_THREAD * THREADS);
    CU_ASSERT_EQUAL(alive.heap, 0);
    CU_ASSERT_EQUAL(left.slots, alive.slots);
    for (unsigned made = THREADS; made < PAIRS; made += THREADS) {
        measure(draw_by_random_bytes, &alive, &left);
    }
    measure(draw_by_random_bytes, &alive, &left);
    CU_ASSERT_EQUAL(alive.slots, 0);
    CU_ASSERT_EQUAL(alive.heap, 0);
}

int main(void)
{
    libctx = evp_context("");
    OSSL_PROVIDER *provider = libctx != NULL ? OSSL_PROVIDER_load(libctx, "drng") : NULL;
    if (provider == NULL) {
        return EXIT_FAILURE;
    }
    if (!drng_fork_kernel_wipes) {
        return unit_skipped("slots are counted by their mark in smaps, which this kernel does not make");
    }
    provctx = OSSL_PROVIDER_get0_provider_ctx(provider);
    const int result = unit_run("what a thread costs");
    OSSL_PROVIDER_unload(provider);
    OSSL_LIB_CTX_free(libctx);
    return result;
}
