/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading, unloading and exit, again and again and at the wrong moment: no crash, no leak, no memory for secrets left
 * mapped. The module itself stays.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/child.h"
#include "tests/unit/maps.h"
#include "tests/unit/unit.h"

/* Sanitizers and valgrind find in a few rounds what they find in a thousand, and take as long for them. */
static unsigned times(void)
{
    return kernel_is_instrumented() ? 30 : 1000;
}

/*
 * ThreadSanitizer gives the other threads of a program that ends a second to show a race; there are 50 programs that
 * end here, and what one of them does not show another one may.
 */

const char *__tsan_default_options(void)
{
    return "atexit_sleep_ms=50";
}

/*
 * Mappings that are left out of core dumps: those for secrets, and what the process had before. A sanitizer's memory is
 * not ours to count.
 */
static size_t secret_mappings(void)
{
    return kernel_is_instrumented() ? 0 : maps_with_flag("dd");
}

static bool draw(OSSL_LIB_CTX *libctx)
{
    unsigned char out[32];
    return RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1 && RAND_priv_bytes_ex(libctx, out, sizeof(out), 0) == 1;
}

UNIT_TEST("a thousand contexts")
{
    const size_t before = secret_mappings();
    size_t mappings = 0;
    const unsigned rounds = times();
    for (unsigned i = 0; i < rounds; i++) {
        OSSL_LIB_CTX *libctx = evp_context("");
        CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
        CU_ASSERT_TRUE(draw(libctx));
        OSSL_LIB_CTX_free(libctx);
        if (i == rounds / 10) {
            mappings = maps_count();
        }
    }
    /* A sanitizer's memory is not ours to count. */
    CU_ASSERT_TRUE(kernel_is_instrumented() || maps_count() == mappings);
    CU_ASSERT_EQUAL(secret_mappings(), before);
    CU_ASSERT_EQUAL(kernel_filled_slots(), 0);
}

/* Two contexts share the process's memory for secrets; one going leaves the other whole. */
UNIT_TEST("contexts that overlap")
{
    const size_t before = secret_mappings();
    OSSL_LIB_CTX *first = evp_context("");
    OSSL_LIB_CTX *second = evp_context("");
    CU_ASSERT_TRUE(draw(first) && draw(second));
    CU_ASSERT_TRUE(kernel_is_instrumented() || secret_mappings() > before);
    OSSL_LIB_CTX_free(first);
    CU_ASSERT_TRUE(draw(second));
    OSSL_LIB_CTX_free(second);
    CU_ASSERT_EQUAL(secret_mappings(), before);
}

/* ---- Unloaded under a thread that goes on drawing ---- */

struct hand_over {
    pthread_barrier_t drawn;
    pthread_barrier_t unloaded;
    OSSL_LIB_CTX *libctx;
    bool served;
};

static void *draw_across_the_unload(void *arg)
{
    struct hand_over *h = arg;
    unsigned char out[32];
    EVP_RAND_CTX *rand = evp_rand_ready(h->libctx, "CTR-DRBG", "provider=drng", NULL);
    const bool before = EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0) == 1;
    (void)pthread_barrier_wait(&h->drawn);
    (void)pthread_barrier_wait(&h->unloaded);
    h->served = before && EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0) == 1 &&
                EVP_RAND_reseed(rand, 0, NULL, 0, NULL, 0) == 1;
    EVP_RAND_CTX_free(rand);
    return NULL;
}

UNIT_TEST("generators outlive the unload")
{
    const size_t before = secret_mappings();
    struct hand_over h = {.libctx = OSSL_LIB_CTX_new()};
    pthread_t thread;
    CU_ASSERT_TRUE_FATAL(evp_make_loadable(h.libctx));
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(h.libctx, "drng");
    CU_ASSERT_EQUAL(pthread_barrier_init(&h.drawn, NULL, 2), 0);
    CU_ASSERT_EQUAL(pthread_barrier_init(&h.unloaded, NULL, 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_across_the_unload, &h), 0);
    (void)pthread_barrier_wait(&h.drawn);
    CU_ASSERT_EQUAL(OSSL_PROVIDER_unload(provider), 1);
    (void)pthread_barrier_wait(&h.unloaded);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_TRUE(h.served);
    (void)pthread_barrier_destroy(&h.drawn);
    (void)pthread_barrier_destroy(&h.unloaded);
    OSSL_LIB_CTX_free(h.libctx);
    CU_ASSERT_EQUAL(secret_mappings(), before);
}

/*
 * glibc has little thread-local memory of drng's kind, and does not use a module's share again if another module's lies
 * behind it. A module that is unmapped and mapped again soon finds none.
 */
UNIT_TEST("loads among other modules")
{
    for (unsigned i = 0; i < 30; i++) {
        OSSL_LIB_CTX *libctx = evp_context("");
        CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
        CU_ASSERT_TRUE(draw(libctx));
        void *other = dlopen(STATIC_TLS_MODULE, RTLD_NOW | RTLD_LOCAL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(other);
        OSSL_LIB_CTX_free(libctx);
        CU_ASSERT_EQUAL(dlclose(other), 0);
    }
}

/* ---- The module alone, closed under a living thread ---- */

typedef int random_bytes_fn(void *provctx, int which, void *buffer, size_t len, unsigned strength);
typedef void teardown_fn(void *provctx);

struct module {
    void *handle;
    void *provctx;
    random_bytes_fn *random_bytes;
    teardown_fn *teardown;
};

static void find_functions(struct module *m, const OSSL_DISPATCH *functions)
{
    for (; functions->function_id != 0; functions++) {
        if (functions->function_id == 1032) {
            m->random_bytes = (random_bytes_fn *)functions->function;
        } else if (functions->function_id == OSSL_FUNC_PROVIDER_TEARDOWN) {
            m->teardown = (teardown_fn *)functions->function;
        }
    }
}

static bool load_module(struct module *m)
{
    const OSSL_DISPATCH *functions = NULL;
    OSSL_provider_init_fn *init = NULL;
    m->handle = dlopen(DRNG_MODULE_DIR "/drng.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = m->handle != NULL ? dlsym(m->handle, "OSSL_provider_init") : NULL;
    memcpy(&init, &symbol, sizeof(init));
    fake_core_set(NULL, NULL);
    if (init == NULL || init(fake_handle, fake_core, &functions, &m->provctx) != 1) {
        return false;
    }
    find_functions(m, functions);
    return m->random_bytes != NULL && m->teardown != NULL;
}

static pthread_barrier_t step;

static void *draw_and_outlive(void *arg)
{
    const struct module *m = arg;
    unsigned char out[32];
    void *result = m->random_bytes(m->provctx, 0, out, sizeof(out), 0) == 1 ? NULL : arg;
    (void)pthread_barrier_wait(&step);
    (void)pthread_barrier_wait(&step);
    return result; /* the module is closed by now, and nothing of it runs as the thread ends */
}

static int nothing(void *unused)
{
    return 0;
}

UNIT_TEST("a thread outlives the module")
{
    const size_t before = secret_mappings();
    for (unsigned i = 0; i < 20; i++) {
        struct module m = {0};
        pthread_t thread;
        void *failed = NULL;
        CU_ASSERT_TRUE_FATAL(load_module(&m));
        CU_ASSERT_EQUAL(pthread_barrier_init(&step, NULL, 2), 0);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, draw_and_outlive, &m), 0);
        (void)pthread_barrier_wait(&step);
        m.teardown(m.provctx);
        CU_ASSERT_EQUAL(dlclose(m.handle), 0);
        CU_ASSERT_EQUAL(secret_mappings(), before);
        (void)pthread_barrier_wait(&step);
        CU_ASSERT_EQUAL(pthread_join(thread, &failed), 0);
        CU_ASSERT_PTR_NULL(failed);
        (void)pthread_barrier_destroy(&step);
        /* Its handler for forks does nothing now. */
        CU_ASSERT_EQUAL(child_forked(nothing, NULL), 0);
    }
}

/* ---- Exit ---- */

/*
 * Threads that have drawn with RAND_bytes() and wait, and threads in the middle of a request to a generator of their
 * own. None that are in RAND_bytes() itself: libcrypto's exit handler frees what that uses, and crashes with its own
 * generator too.
 */
static atomic_uint ready; /* threads that need nothing more of libcrypto than their generator */

static void *draw_and_wait(void *unused)
{
    unsigned char out[32];
    const bool drawn = RAND_bytes(out, sizeof(out)) == 1 && RAND_priv_bytes(out, sizeof(out)) == 1;
    atomic_fetch_add(&ready, drawn);
    (void)pause();
    return unused;
}

static void *draw_for_ever(void *unused)
{
    unsigned char out[32];
    EVP_RAND_CTX *rand = evp_rand_ready(NULL, "CTR-DRBG", "provider=drng", NULL);
    atomic_fetch_add(&ready, 1);
    while (EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0) == 1) {
    }
    _exit(3);
    return unused;
}

/* exit(), not _exit(): libcrypto's handlers run, unless `flags` leave them out, as OpenSSL 4.0 always does. */
static int exit_with_threads(void *flags)
{
    enum { EACH = 2 };
    pthread_t thread;
    (void)alarm(60);
    if (OPENSSL_init_crypto(*(const uint64_t *)flags, NULL) != 1) {
        return 4;
    }
    if (!evp_configure_default()) {
        return 1;
    }
    for (unsigned i = 0; i < EACH; i++) {
        if (pthread_create(&thread, NULL, draw_and_wait, NULL) != 0 ||
            pthread_create(&thread, NULL, draw_for_ever, NULL) != 0) {
            return 2;
        }
    }
    while (atomic_load(&ready) < 2 * EACH) {
    }
    exit(0); // NOLINT(concurrency-mt-unsafe)
}

UNIT_TEST("exit with threads running")
{
    uint64_t with_handlers = 0;
    uint64_t without = OPENSSL_INIT_NO_ATEXIT;
    for (unsigned i = 0; i < 50; i++) {
        CU_ASSERT_EQUAL(child_forked(exit_with_threads, i % 2 == 0 ? &with_handlers : &without), 0);
    }
}

/* ---- Exit, while a thread is in random_bytes ---- */

static struct module instance;
static pthread_t drawing;
static atomic_ulong draws;
static atomic_bool enough;

static void *draw_on(void *unused)
{
    unsigned char out[32];
    while (!atomic_load(&enough) && instance.random_bytes(instance.provctx, 0, out, sizeof(out), 0) == 1) {
        atomic_fetch_add(&draws, 1);
    }
    return unused;
}

/* In the child alone: libcrypto has cleaned up, and the thread draws on, and ends. */
static void after_the_cleanup(void)
{
    if (instance.random_bytes != NULL) {
        const unsigned long more = atomic_load(&draws) + 1000;
        while (atomic_load(&draws) < more) {
        }
        atomic_store(&enough, true);
        (void)pthread_join(drawing, NULL);
    }
}

/* Before main(), and so before libcrypto's handler: handlers run in reverse. */
static __attribute__((constructor)) void register_handler(void)
{
    (void)atexit(after_the_cleanup);
}

static int exit_under_random_bytes(void *unused)
{
    (void)alarm(60);
    OSSL_PROVIDER *provider = evp_configure_default() ? OSSL_PROVIDER_load(NULL, "drng") : NULL;
    if (provider == NULL) {
        return 1;
    }
    instance.provctx = OSSL_PROVIDER_get0_provider_ctx(provider);
    find_functions(&instance, OSSL_PROVIDER_get0_dispatch(provider));
    (void)OSSL_PROVIDER_unload(provider); /* the configuration's stays */
    if (pthread_create(&drawing, NULL, draw_on, NULL) != 0) {
        return 2;
    }
    while (atomic_load(&draws) == 0) {
    }
    exit(0); // NOLINT(concurrency-mt-unsafe)
}

UNIT_TEST("exit while a thread draws")
{
    CU_ASSERT_EQUAL(child_forked(exit_under_random_bytes, NULL), 0);
}

UNIT_MAIN("unload and exit")
