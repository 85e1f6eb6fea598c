/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: generators of their own, nothing left behind, and forks out of the middle of it all; built also without
 * words in requests.
 */

#define _GNU_SOURCE

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/rand.h>

#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "provider/observe/stats.h"
#include "provider/process.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/kernel.h"
#include "tests/process/pool.h"
#include "tests/process/ways.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { THREADS = 8 };

static OSSL_LIB_CTX *libctx;

static bool draw_both(void)
{
    unsigned char out[32];
    return RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1 && pool_add(out) &&
           RAND_priv_bytes_ex(libctx, out, sizeof(out), 0) == 1 && pool_add(out);
}

/* Runs `work` in so many threads at once; how many of them returned NULL. */
static unsigned in_threads(unsigned threads, void *(*work)(void *))
{
    pthread_t ids[THREADS];
    unsigned succeeded = 0;
    for (unsigned i = 0; i < threads; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&ids[i], NULL, work, NULL), 0);
    }
    for (unsigned i = 0; i < threads; i++) {
        void *failed = NULL;
        CU_ASSERT_EQUAL(pthread_join(ids[i], &failed), 0);
        succeeded += failed == NULL;
    }
    return succeeded;
}

/* ---- Draws ---- */

enum { DRAWS = 500 };

static void *draw_many(void *unused)
{
    for (unsigned i = 0; i < DRAWS; i++) {
        if (!draw_both()) {
            return &libctx;
        }
    }
    return unused;
}

UNIT_TEST("no two threads draw the same")
{
    CU_ASSERT_EQUAL(in_threads(THREADS, draw_many), THREADS);
    CU_ASSERT_EQUAL(pool_size(), 2 * THREADS * DRAWS);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

/* The primary is the one generator that threads share. */
static void *draw_from_primary(void *unused)
{
    EVP_RAND_CTX *primary = RAND_get0_primary(libctx);
    unsigned char out[POOL_DRAW];
    for (unsigned i = 0; i < DRAWS; i++) {
        const bool reseeds = i % 50 == 0;
        if (EVP_RAND_generate(primary, out, sizeof(out), 0, reseeds, NULL, 0) != 1 || !pool_add(out)) {
            return &libctx;
        }
    }
    return unused;
}

UNIT_TEST("the primary is locked")
{
    CU_ASSERT_EQUAL(in_threads(THREADS, draw_from_primary), THREADS);
    CU_ASSERT_EQUAL(pool_size(), THREADS * DRAWS);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

/* libcrypto asks the parent to be locked, too, for each child. */
static void *lock_children_of_primary(void *unused)
{
    enum { CHILDREN = 20 };
    unsigned char out[POOL_DRAW];
    for (unsigned i = 0; i < CHILDREN; i++) {
        EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", "provider=drng", RAND_get0_primary(libctx));
        const bool drew = EVP_RAND_enable_locking(child) == 1 &&
                          EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0) == 1 && pool_add(out);
        EVP_RAND_CTX_free(child);
        if (!drew) {
            return &libctx;
        }
    }
    return unused;
}

UNIT_TEST("what is locked may be locked again")
{
    CU_ASSERT_EQUAL(in_threads(THREADS, lock_children_of_primary), THREADS);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

/* ---- What a request costs the others ---- */

static atomic_uint locks_taken;

/* Those that were taken while somebody watched, a lock once for each time. */
enum { WATCHED = 4096 };
static pthread_mutex_t *watched[WATCHED];
static atomic_uint watched_count;
static atomic_bool watching;

/* The linker brings every call of our own code here (--wrap). */
int __real_pthread_mutex_lock(pthread_mutex_t *lock);

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
    atomic_fetch_add(&locks_taken, 1);
    if (atomic_load(&watching)) {
        watched[atomic_fetch_add(&watched_count, 1) % WATCHED] = lock;
    }
    return __real_pthread_mutex_lock(lock);
}

/* What another thread does at this one's next unlocking. */
static _Thread_local void *(*meanwhile)(void *);

int __real_pthread_mutex_unlock(pthread_mutex_t *lock);

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
    void *(*const work)(void *) = meanwhile;
    const int result = __real_pthread_mutex_unlock(lock);
    meanwhile = NULL;
    if (work != NULL) {
        CU_ASSERT_EQUAL(in_threads(1, work), 1);
    }
    return result;
}

static void *reseed_primary(void *unused)
{
    return EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0) == 1 ? unused : &libctx;
}

static unsigned seedings_of(EVP_RAND_CTX *generator)
{
    unsigned seedings = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_uint(OSSL_DRBG_PARAM_RESEED_COUNTER, &seedings), OSSL_PARAM_END};
    CU_ASSERT_EQUAL(EVP_RAND_CTX_get_params(generator, params), 1);
    return seedings;
}

/* The other thread comes between the parent's answer to the child and the child's note of it. */
UNIT_TEST("a parent's reseed is never missed")
{
    unsigned char out[16];
    EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", "provider=drng", RAND_get0_primary(libctx));
    CU_ASSERT_PTR_NOT_NULL_FATAL(child);
    /* Were the primary's own turn in this request, the next unlocking would be that of the seeds, under its lock. */
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    meanwhile = reseed_primary;
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_PTR_NULL(meanwhile);
    const unsigned seedings = seedings_of(child);
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(seedings_of(child), seedings + 1);
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(seedings_of(child), seedings + 1);
    EVP_RAND_CTX_free(child);
}

UNIT_TEST("a request takes no lock and writes nothing shared")
{
    unsigned char out[64];
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    const unsigned before = atomic_load(&locks_taken);
    const struct drng_process process = drng_process;
    struct drng_counters counters = drng_stats.live->counters;
    const uint64_t shared_cell = atomic_load(&drng_request_counts_shared()->requests);
    for (unsigned i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    }
    CU_ASSERT_EQUAL(atomic_load(&locks_taken), before);
    CU_ASSERT_EQUAL(memcmp(&process, &drng_process, sizeof(process)), 0);
    /* But where no instruction gives a word: two system calls for each request, and they are counted. */
    const uint64_t kernel_requests = atomic_load(&drng_stats.live->counters.kernel_requests);
    CU_ASSERT_TRUE(kernel_requests == counters.kernel_requests || kernel_requests == counters.kernel_requests + 1000);
    counters.kernel_requests = kernel_requests;
    CU_ASSERT_EQUAL(memcmp(&counters, &drng_stats.live->counters, sizeof(counters)), 0);
    CU_ASSERT_EQUAL(atomic_load(&drng_request_counts_shared()->requests), shared_cell);
    /* The counter counts. */
    CU_ASSERT_EQUAL(EVP_RAND_generate(RAND_get0_primary(libctx), out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(atomic_load(&locks_taken), before + 1);
}

/* ---- Locks, which a fork may find taken by a thread that the child does not have ---- */

/* The way of OpenSSL 3.5, in a thread that comes and goes. */
static void *draw_by_random_bytes(void *provctx)
{
    unsigned char out[32];
    const bool drew = drng_random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, out, sizeof(out), 256) == 1;
    return drew ? NULL : provctx;
}

/* All that takes a lock of the provider's. */
static void take_every_lock(void)
{
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    CU_ASSERT_PTR_NOT_NULL_FATAL(provider);
    void *failed = provider;
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(
        pthread_create(&thread, NULL, draw_by_random_bytes, OSSL_PROVIDER_get0_provider_ctx(provider)), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, &failed), 0);
    CU_ASSERT_PTR_NULL(failed);
    CU_ASSERT_TRUE(ways_draw(1));
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    EVP_RAND_CTX *own = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    EVP_RAND_CTX_free(own);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "name"), "drng");
    OSSL_PROVIDER_unload(provider);
}

/* Memory that is wiped in a child is what frees them there. */
UNIT_TEST("every lock is wiped by a fork")
{
    unsigned distinct = 0;
    if (!drng_fork_kernel_wipes) {
        CU_PASS("this kernel wipes nothing, and process_fork_no_wipe stands for it");
        return;
    }
    atomic_store(&watching, true);
    take_every_lock();
    atomic_store(&watching, false);
    const unsigned count = atomic_load(&watched_count);
    CU_ASSERT_TRUE_FATAL(count <= WATCHED);
    for (unsigned i = 0; i < count; i++) {
        bool seen = false;
        for (unsigned j = 0; j < i; j++) {
            seen = seen || watched[j] == watched[i];
        }
        distinct += !seen;
        CU_ASSERT_TRUE(seen || kernel_wipes_address(watched[i]));
    }
    /* The slots', the primary's, the seed source's, that of parentless generators, that of random_bytes' threads. */
    CU_ASSERT_TRUE(distinct >= 5);
    CU_ASSERT_FALSE(kernel_wipes_address(&distinct));
}

/* ---- Short lives ---- */

enum { SHORT_LIVED = 10000, FEWER = 30 * THREADS /* where no memory is counted */ };

static void *draw_once(void *unused)
{
    return draw_both() ? unused : &libctx;
}

static pthread_barrier_t all_have_drawn;

static void *draw_and_wait(void *unused)
{
    void *failed = draw_once(unused);
    (void)pthread_barrier_wait(&all_have_drawn);
    return failed;
}

/* As many generators as there ever are at once, so that there is memory for them from now on. */
static void run_all_at_once(void)
{
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&all_have_drawn, NULL, THREADS), 0);
    CU_ASSERT_EQUAL(in_threads(THREADS, draw_and_wait), THREADS);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
    (void)pthread_barrier_destroy(&all_have_drawn);
}

static size_t resident_pages(void)
{
    size_t size = 0;
    size_t resident = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(statm);
    CU_ASSERT_EQUAL(fscanf(statm, "%zu %zu", &size, &resident), 2);
    (void)fclose(statm);
    return resident;
}

static void run_short_lived(unsigned threads)
{
    unsigned succeeded = 0;
    for (unsigned i = 0; i < threads; i += THREADS) {
        succeeded += in_threads(THREADS, draw_once);
        CU_ASSERT_EQUAL(pool_duplicates(), 0);
    }
    CU_ASSERT_EQUAL(succeeded, threads);
}

/* Generators are erased with their thread: as many slots are in use as before, and no more memory is. */
UNIT_TEST("short-lived threads leave nothing behind")
{
    const unsigned threads = kernel_is_instrumented() ? FEWER : SHORT_LIVED;
    run_all_at_once();
    run_short_lived(threads / 10);
    const unsigned slots = kernel_filled_slots();
    const unsigned mappings = kernel_wiped_mappings();
    const size_t resident = resident_pages();
    run_short_lived(threads);
    CU_ASSERT_EQUAL(kernel_filled_slots(), slots);
    CU_ASSERT_EQUAL(kernel_wiped_mappings(), mappings);
    if (kernel_is_instrumented()) {
        return; /* its memory is not ours to count */
    }
    /* 10,000 times the smallest thing left behind, a slot of 256 bytes, would be 625 pages. */
    CU_ASSERT_TRUE(resident_pages() < resident + 100);
}

/* ---- Forks ---- */

enum { FORKS = 100 };

static atomic_bool stop;

/* Keeps every lock of the provider busy: requests, reseeds of the primary, slots taken and given back. */
static void *keep_busy(void *unused)
{
    EVP_RAND_CTX *primary = RAND_get0_primary(libctx);
    unsigned char out[32];
    while (!atomic_load(&stop)) {
        EVP_RAND_CTX *own = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", primary);
        if (own == NULL || EVP_RAND_reseed(primary, 0, NULL, 0, NULL, 0) != 1 ||
            RAND_bytes_ex(libctx, out, sizeof(out), 0) != 1) {
            return &libctx;
        }
        EVP_RAND_CTX_free(own);
    }
    return unused;
}

static int draw_before_the_alarm(void *unused)
{
    (void)alarm(30); /* a deadlock ends in a signal, and so in another status */
    return ways_draw(1) ? 0 : 1;
}

UNIT_TEST("forks out of busy threads")
{
    pthread_t threads[4];
    /* A sanitizer's allocator may be locked in a child for good, and seeds of libcrypto's come from the allocator. */
    const bool allocates = strcmp(evp_text(libctx, "active-source"), "fallback") == 0;
    /* Helgrind takes a lock that the kernel has wiped in a child for one that a thread of the parent still holds. */
    const bool forks = !kernel_is_under_valgrind() && !(allocates && kernel_is_instrumented());
    /* A sanitizer's own locks, which no handler has freed in such a child, would be what it dies of. */
    const bool clones = !kernel_is_instrumented();
    atomic_store(&stop, false);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, keep_busy, NULL), 0);
    }
    for (unsigned i = 0; i < FORKS; i++) {
        CU_ASSERT_TRUE(!forks || child_forked(draw_before_the_alarm, NULL) == 0);
        CU_ASSERT_TRUE(!clones || child_cloned(draw_before_the_alarm, NULL) == 0);
        CU_ASSERT_TRUE(ways_draw(1));
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 4; i++) {
        void *failed = NULL;
        CU_ASSERT_EQUAL(pthread_join(threads[i], &failed), 0);
        CU_ASSERT_PTR_NULL(failed);
    }
    CU_ASSERT_EQUAL(pool_size(), (1U + forks + clones) * FORKS * ways_count());
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

int main(void)
{
    /* One heap for all threads, lest the resident memory grow with each one that finds the others busy. */
    (void)mallopt(M_ARENA_MAX, 1);
    libctx = evp_context(TEST_KEYS);
    if (libctx == NULL || !pool_open() || !ways_open(libctx)) {
        return 1;
    }
    const int result = unit_run("threads");
    ways_close();
    pool_close();
    OSSL_LIB_CTX_free(libctx);
    return result;
}
