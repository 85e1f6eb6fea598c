/* SPDX-License-Identifier: Apache-2.0 */
/* The counters: where it is found, what it holds, and that each process counts for itself. */

#define _GNU_SOURCE

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "mixing/drbg/generator.h"
#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "provider/observe/stats.h"
#include "provider/process.h"
#include "provider/version.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/maps.h"
#include "tests/unit/unit.h"

/* ---- Drawing ---- */

static bool draw(OSSL_LIB_CTX *libctx, size_t len)
{
    unsigned char out[256];
    return RAND_bytes_ex(libctx, out, len, 0) == 1;
}

/* What draws of this process have added since `before`. */
static struct drng_requests since(struct drng_requests before)
{
    const struct drng_requests now = drng_stats_requests();
    return (struct drng_requests){now.requests - before.requests, now.bytes - before.bytes};
}

static bool are(struct drng_requests counted, uint64_t requests, uint64_t bytes)
{
    return counted.requests == requests && counted.bytes == bytes;
}

/* ---- Where it is ---- */

/* What drng-status looks up in the module's symbol table. */
extern struct drng_stats_head drng_counters;

UNIT_TEST("it is the exported object from the first load to the last unload")
{
    OSSL_LIB_CTX *first = evp_context("");
    OSSL_LIB_CTX *second = evp_context("");
    CU_ASSERT_PTR_EQUAL(&drng_counters, drng_stats.head);
    CU_ASSERT_EQUAL(drng_counters.layout, DRNG_STATS_LAYOUT);
    OSSL_LIB_CTX_free(first);
    CU_ASSERT_EQUAL(drng_counters.layout, DRNG_STATS_LAYOUT);
    OSSL_LIB_CTX_free(second);
    CU_ASSERT_EQUAL(drng_counters.layout, 0);
}

/* Whoever looks while a process loads drng must not be told that nothing will serve. */
UNIT_TEST("it is shown once it says who will serve")
{
    CU_ASSERT_TRUE(drng_process_open(NULL));
    CU_ASSERT_EQUAL(drng_counters.layout, 0);
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_EQUAL(drng_counters.layout, DRNG_STATS_LAYOUT);
    CU_ASSERT_NOT_EQUAL(drng_counters.first_source, DRNG_SOURCE_NONE);
    OSSL_LIB_CTX_free(libctx);
    drng_process_close();
}

/* No system call makes it: no file that a limit could forbid, no mapping of its own. */
UNIT_TEST("it is in the module's own data")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_FALSE(maps_mention("drng-counters"));
    CU_ASSERT_EQUAL(maps_has_flag(drng_stats.live, "wf"), drng_fork_kernel_wipes);
    CU_ASSERT_FALSE(maps_has_flag(drng_stats.head, "wf"));
    OSSL_LIB_CTX_free(libctx);
}

UNIT_TEST("the head says what is known")
{
    const uint64_t before = (uint64_t)time(NULL);
    OSSL_LIB_CTX *libctx = evp_context("");
    const struct drng_stats_head *head = drng_stats.head;
    CU_ASSERT_EQUAL(memcmp(head->magic, "drngcnt", 8), 0);
    CU_ASSERT_EQUAL(head->layout, DRNG_STATS_LAYOUT);
    CU_ASSERT_PTR_EQUAL((const uint8_t *)head + head->live_offset, drng_stats.live);
    CU_ASSERT_PTR_EQUAL((const uint8_t *)drng_stats.live + head->request_counts_offset,
                        drng_stats.live->request_counts);
    CU_ASSERT_TRUE(head->loaded >= before && head->loaded <= (uint64_t)time(NULL));
    CU_ASSERT_EQUAL(head->forks, 0);
    CU_ASSERT_EQUAL(head->healthy, 1);
    CU_ASSERT_STRING_EQUAL(head->version, DRNG_VERSION);
    char libcrypto[sizeof(head->libcrypto)];
    (void)snprintf(libcrypto, sizeof(libcrypto), "OpenSSL %s", OpenSSL_version(OPENSSL_VERSION_STRING));
    CU_ASSERT_STRING_EQUAL(head->libcrypto, libcrypto);
    CU_ASSERT_STRING_EQUAL(head->aes, evp_text(libctx, "aes-implementation"));
    CU_ASSERT_STRING_EQUAL(head->disabled_reason, evp_text(libctx, "disabled-reason"));
    OSSL_LIB_CTX_free(libctx);
}

/* A field that another one has run over would not be "c". */
UNIT_TEST("a reason that is too long is cut")
{
    char reason[2 * DRNG_TEXT_SIZE];
    OSSL_LIB_CTX *libctx = evp_context("");
    struct drng_stats_head *head = drng_stats.head;
    memset(reason, 'x', sizeof(reason));
    reason[sizeof(reason) - 1] = '\0';
    drng_stats_text(head->disabled_reason, sizeof(head->disabled_reason), reason);
    drng_stats_text(head->clone_reason, sizeof(head->clone_reason), "c");
    CU_ASSERT_EQUAL(strnlen(head->disabled_reason, DRNG_TEXT_SIZE), DRNG_TEXT_SIZE - 1);
    CU_ASSERT_STRING_EQUAL(head->clone_reason, "c");
    OSSL_LIB_CTX_free(libctx);
}

/* ---- Requests ---- */

/* What the next one loads is listed behind; the head is filled anew at the first load. */
UNIT_TEST("each libcrypto is listed once, and whole")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    char *list = drng_stats.head->libcrypto;
    (void)snprintf(list, sizeof(drng_stats.head->libcrypto), "OpenSSL 3.0.19");
    static const char *const loaders[] = {"3.0.19", "4.0.3", "3.0.1", "4.0.3", NULL, ""};
    for (size_t i = 0; i < sizeof(loaders) / sizeof(*loaders); i++) {
        drng_stats_add_libcrypto(loaders[i]);
    }
    CU_ASSERT_STRING_EQUAL(list, "OpenSSL 3.0.19, 4.0.3, 3.0.1");
    drng_stats_add_libcrypto("3.9.0-a-name-that-does-not-fit-in-what-is-left");
    CU_ASSERT_STRING_EQUAL(list, "OpenSSL 3.0.19, 4.0.3, 3.0.1");
    OSSL_LIB_CTX_free(libctx);
}

UNIT_TEST("requests and bytes are exact")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_TRUE(draw(libctx, 16));
    const struct drng_requests before = drng_stats_requests();
    for (size_t len = 1; len <= 100; len++) {
        CU_ASSERT_TRUE(draw(libctx, len));
    }
    CU_ASSERT_TRUE(are(since(before), 100, 5050));
    CU_ASSERT_EQUAL(evp_counter(libctx, "requests"), drng_stats_requests().requests);
    CU_ASSERT_EQUAL(evp_counter(libctx, "bytes"), drng_stats_requests().bytes);
    OSSL_LIB_CTX_free(libctx);
}

/* The other two generators count too, in the shared counts; a request that fails does not. */
UNIT_TEST("every generator counts")
{
    unsigned char out[24];
    OSSL_LIB_CTX *libctx = evp_context("");
    EVP_RAND_CTX *seed = evp_rand_ready(libctx, "DRNG-SEED", "provider=drng", NULL);
    EVP_RAND_CTX *drbg = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    struct drng_requests before = drng_stats_requests();
    CU_ASSERT_EQUAL(EVP_RAND_generate(seed, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_TRUE(are(since(before), 1, sizeof(out)));
    before = drng_stats_requests();
    CU_ASSERT_EQUAL(EVP_RAND_generate(drbg, out, sizeof(out), 1024, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(are(since(before), 0, 0));
    EVP_RAND_CTX_free(drbg);
    EVP_RAND_CTX_free(seed);
    OSSL_LIB_CTX_free(libctx);
}

UNIT_TEST("reseeds and the time of the last seed are noted")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_EQUAL(evp_counter(libctx, "last-seed"), 0);
    const uint64_t before = (uint64_t)time(NULL);
    CU_ASSERT_TRUE(draw(libctx, 16));
    CU_ASSERT_EQUAL(evp_counter(libctx, "reseeds"), 0);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(evp_counter(libctx, "reseeds"), 1);
    CU_ASSERT_TRUE(draw(libctx, 16)); /* its parent has a new seed, and so it takes one */
    CU_ASSERT_EQUAL(evp_counter(libctx, "reseeds"), 2);
    const uint64_t last = evp_counter(libctx, "last-seed");
    CU_ASSERT_TRUE(last >= before && last <= (uint64_t)time(NULL));
    OSSL_LIB_CTX_free(libctx);
}

/* ---- Counts of requests ---- */

enum { MORE = DRNG_REQUEST_COUNTS + 10 };

UNIT_TEST("more generators than counts share one")
{
    static EVP_RAND_CTX *rand[MORE];
    unsigned char out[8];
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_TRUE(draw(libctx, 16));
    for (size_t i = 0; i < MORE; i++) {
        rand[i] = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rand[i]);
    }
    struct drng_request_counts *last = drng_request_counts_acquire();
    CU_ASSERT_PTR_EQUAL(last, drng_request_counts_shared());
    drng_request_counts_release(last);
    const struct drng_requests before = drng_stats_requests();
    for (size_t i = 0; i < MORE; i++) {
        CU_ASSERT_EQUAL(EVP_RAND_generate(rand[i], out, sizeof(out), 0, 0, NULL, 0), 1);
    }
    CU_ASSERT_TRUE(are(since(before), MORE, MORE * sizeof(out)));
    for (size_t i = 0; i < MORE; i++) {
        EVP_RAND_CTX_free(rand[i]);
    }
    /* What was counted stays when its generator goes, and its counts serve another. */
    CU_ASSERT_TRUE(are(since(before), MORE, MORE * sizeof(out)));
    last = drng_request_counts_acquire();
    CU_ASSERT_PTR_NOT_EQUAL(last, drng_request_counts_shared());
    drng_request_counts_release(last);
    OSSL_LIB_CTX_free(libctx);
}

enum { THREADS = 8, TAKEN = 2 * DRNG_REQUEST_COUNTS, ROUNDS = 20, EACH = 100 };

static pthread_barrier_t start;

/* Each thread writes to the counts that it holds as if nobody else did: two owners of one would lose a count. */
static void *count_in_own_counts(void *unused)
{
    (void)pthread_barrier_wait(&start);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct drng_request_counts *counts[TAKEN];
        for (unsigned i = 0; i < TAKEN; i++) {
            counts[i] = drng_request_counts_acquire();
            for (unsigned count = 0; count < EACH; count++) {
                drng_request_counts_add(counts[i], counts[i] == drng_request_counts_shared(), 3);
            }
        }
        for (unsigned i = 0; i < TAKEN; i++) {
            drng_request_counts_release(counts[i]);
        }
    }
    return unused;
}

UNIT_TEST("a request count has one owner")
{
    pthread_t threads[THREADS];
    OSSL_LIB_CTX *libctx = evp_context("");
    const struct drng_requests before = drng_stats_requests();
    CU_ASSERT_EQUAL(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, count_in_own_counts, NULL), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    const uint64_t counted = (uint64_t)THREADS * ROUNDS * TAKEN * EACH;
    CU_ASSERT_TRUE(are(since(before), counted, 3 * counted));
    (void)pthread_barrier_destroy(&start);
    OSSL_LIB_CTX_free(libctx);
}

/* ---- Children ---- */

static bool all_zero(const struct drng_counters *counters)
{
    static const struct drng_counters zeros;
    return memcmp(counters, &zeros, sizeof(zeros)) == 0;
}

/* 0, or the number of the step at which the child was not what it should be. */
static int begin_at_zero(void *arg)
{
    OSSL_LIB_CTX *libctx = arg;
    const struct drng_stats_live *live = drng_stats.live;
    if (live->begun != 0 || !all_zero(&live->counters) || !are(drng_stats_requests(), 0, 0)) {
        return 1;
    }
    if (!draw(libctx, 16) || live->begun != 1 || drng_stats.head->forks != 1) {
        return 2;
    }
    /* Public and primary took new seeds; 16 bytes for the program, and what the primary gave as seed. */
    if (live->counters.fork_reseeds != 2 || live->counters.reseeds != 0 || drng_stats_requests().requests != 2) {
        return 3;
    }
    const struct drng_requests before = drng_stats_requests();
    return draw(libctx, 16) && are(since(before), 1, 16) ? 0 : 4;
}

UNIT_TEST("a child counts for itself")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_TRUE(draw(libctx, 16) && draw(libctx, 16));
    const struct drng_requests before = drng_stats_requests();
    CU_ASSERT_EQUAL(child_forked(begin_at_zero, libctx), 0);
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || child_cloned(begin_at_zero, libctx) == 0);
    CU_ASSERT_TRUE(are(since(before), 0, 0));
    CU_ASSERT_EQUAL(drng_stats.head->forks, 0);
    OSSL_LIB_CTX_free(libctx);
}

/* ---- Whether the memory for secrets is locked ---- */

static bool says(enum drng_memory_lock state)
{
    return drng_stats.live->memory_lock == (uint64_t)state;
}

static int look_at_lock(void *expected)
{
    (void)drng_fork_generation(); /* where the kernel does not wipe, this does */
    return says(*(const enum drng_memory_lock *)expected) ? 0 : 1;
}

UNIT_TEST("it says whether memory is locked")
{
    if (unit_emulated("it drops advice on memory")) {
        return;
    }
    OSSL_LIB_CTX *libctx = evp_context("");
    void *slot = drng_secmem_alloc(DRNG_SLOT_SIZE);
    const enum drng_memory_lock here = maps_has_flag(slot, "lo") ? DRNG_MEMORY_LOCKED : DRNG_MEMORY_LIMITED;
    enum drng_memory_lock not_inherited = DRNG_MEMORY_NOT_INHERITED;
    CU_ASSERT_TRUE(says(here));
    CU_ASSERT_EQUAL(child_forked(look_at_lock, &not_inherited), 0);
    CU_ASSERT_EQUAL(child_cloned(look_at_lock, &not_inherited), 0);
    drng_secmem_free(slot, DRNG_SLOT_SIZE);
    OSSL_LIB_CTX_free(libctx);
}

/* Under a limit that a child of this process sets for itself. */
static int load_under_a_limit(void *unused)
{
    const struct rlimit none = {0};
    if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0)) {
        return 1;
    }
    OSSL_LIB_CTX *libctx = evp_context("");
    const bool told = says(DRNG_MEMORY_LIMITED) && draw(libctx, 16);
    OSSL_LIB_CTX_free(libctx);
    return told ? 0 : 2;
}

UNIT_TEST("it says that a limit forbids the lock")
{
    CU_ASSERT_EQUAL(child_forked(load_under_a_limit, NULL), 0);
}

/* A kernel of before 2017: drng's handler of fork() wipes. */
static int count_without_the_kernel(void *arg)
{
    OSSL_LIB_CTX *libctx = arg;
    if (!draw(libctx, 16) || drng_stats.live->begun != 1 || drng_stats.head->forks != 1) {
        return 1;
    }
    return evp_counter(libctx, "fork-reseeds") == 2 && drng_stats_requests().requests == 2 ? 0 : 2;
}

UNIT_TEST("a child counts for itself on an old kernel")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_TRUE(draw(libctx, 16));
    CU_ASSERT_EQUAL(madvise(drng_stats.live, sizeof(*drng_stats.live), 19 /* MADV_KEEPONFORK */), 0);
    CU_ASSERT_EQUAL(madvise(drng_fork_page, drng_page_size(), 19), 0);
    drng_fork_kernel_wipes = false;
    CU_ASSERT_EQUAL(child_forked(count_without_the_kernel, libctx), 0);
    OSSL_LIB_CTX_free(libctx);
}

UNIT_MAIN("statistics")
