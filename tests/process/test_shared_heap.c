/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcrypto's heap in memory that processes share, as a program has it that calls CRYPTO_set_mem_functions() before it
 * forks its workers: generators lie there, and their secrets do not. Workers draw from what an ancestor has made. What
 * a sibling has made after the fork is refused: in the worker another generator, of its own, may have a slot at the
 * address where the sibling's is.
 */

#define _GNU_SOURCE

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sanitizer/lsan_interface.h>

#include <openssl/core_dispatch.h>
#include <openssl/rand.h>

#include "mixing/state/fork.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/init.h"
#include "tests/process/pool.h"
#include "tests/provider/evp.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { WORKERS = 4, DRAWS = 20, MANY = 50000, SHORT = 16, SECONDS = 60, HEAP = 64 << 20 };

/* The heap, from which nothing is freed, and what the processes tell each other. */
static struct shared {
    atomic_size_t used;
    EVP_RAND_CTX *siblings;
    atomic_uint_least64_t token;
    unsigned char many[WORKERS * MANY][SHORT];
    _Alignas(16) unsigned char heap[HEAP];
} * shared;

static OSSL_LIB_CTX *libctx;
static EVP_RAND *ctr_drbg;

static void *from_heap(size_t len, const char *file, int line)
{
    const size_t head = 16;
    unsigned char *block = shared->heap + atomic_fetch_add(&shared->used, (len + head + 15) & ~(size_t)15);
    if (block + head + len > shared->heap + HEAP) {
        return NULL;
    }
    memcpy(block, &len, sizeof(len));
    return block + head;
}

static void to_heap(void *memory, const char *file, int line) {}

static void *grow(void *memory, size_t len, const char *file, int line)
{
    size_t had = 0;
    void *larger = from_heap(len, file, line);
    if (memory != NULL && larger != NULL) {
        memcpy(&had, (unsigned char *)memory - 16, sizeof(had));
        memcpy(larger, memory, had < len ? had : len);
    }
    return larger;
}

static EVP_RAND_CTX *new_generator(void)
{
    EVP_RAND_CTX *rand = EVP_RAND_CTX_new(ctr_drbg, NULL);
    return rand != NULL && EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL) == 1 ? rand : NULL;
}

static bool draw_from(EVP_RAND_CTX *rand, unsigned times)
{
    unsigned char draw[POOL_DRAW];
    for (unsigned i = 0; i < times; i++) {
        if (EVP_RAND_generate(rand, draw, sizeof(draw), 0, 0, NULL, 0) != 1 || !pool_add(draw)) {
            return false;
        }
    }
    return true;
}

static int make_for_siblings(void *unused)
{
    (void)alarm(SECONDS);
    shared->siblings = new_generator();
    return shared->siblings != NULL && draw_from(shared->siblings, DRAWS) ? 0 : 1;
}

/* ---- Tokens ---- */

static int note_token(void *unused)
{
    const uint64_t before = atomic_exchange(&shared->token, drng_fork_token());
    return before != 0 && before != drng_fork_token() && drng_fork_token() == atomic_load(&shared->token) ? 0 : 1;
}

/* Siblings have the same generation; no two processes have the same token. */
UNIT_TEST("no relative has the same token")
{
    atomic_store(&shared->token, drng_fork_token());
    for (unsigned i = 0; i < WORKERS; i++) {
        CU_ASSERT_EQUAL(child_forked(note_token, NULL), 0);
    }
    CU_ASSERT_NOT_EQUAL(drng_fork_token(), atomic_load(&shared->token));
}

/* ---- What a sibling has made ---- */

/* With zeros, and an error that says what to do. */
static bool siblings_is_refused(void)
{
    static const unsigned char zeros[POOL_DRAW];
    unsigned char draw[POOL_DRAW];
    memset(draw, 0xaa, sizeof(draw));
    return EVP_RAND_generate(shared->siblings, draw, sizeof(draw), 0, 0, NULL, 0) == 0 &&
           memcmp(draw, zeros, sizeof(draw)) == 0 && evp_error("made by another process", "draw once before you fork");
}

static int use_beside_own(void *unused)
{
    (void)alarm(SECONDS);
    EVP_RAND_CTX *own = new_generator();
    if (own == NULL || !draw_from(own, DRAWS) || !siblings_is_refused()) {
        return 1;
    }
    if (EVP_RAND_uninstantiate(shared->siblings) == 1 || EVP_RAND_verify_zeroization(own) == 1 ||
        !draw_from(own, DRAWS)) {
        return 2;
    }
    EVP_RAND_CTX_free(own);
    return siblings_is_refused() ? 0 : 3;
}

UNIT_TEST("a sibling's generator is refused")
{
    CU_ASSERT_EQUAL(child_forked(make_for_siblings, NULL), 0);
    CU_ASSERT_EQUAL(WEXITSTATUS(child_forked(use_beside_own, NULL)), 0);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

/* More of them than the first pages of slots have room for: the sibling's slot is at an address that is nobody's here.
 */
static int make_the_last_of_many(void *unused)
{
    for (unsigned i = 0; i < 200; i++) {
        if (new_generator() == NULL) {
            return 1;
        }
    }
    return make_for_siblings(unused);
}

static int use_siblings(void *unused)
{
    (void)alarm(SECONDS);
    return siblings_is_refused() ? 0 : 1;
}

UNIT_TEST("so is one whose slot lies where nothing is")
{
    CU_ASSERT_EQUAL(child_forked(make_the_last_of_many, NULL), 0);
    CU_ASSERT_EQUAL(child_forked(use_siblings, NULL), 0);
}

/* It frees no slot of this process's. */
static int free_a_siblings_beside_own(void *unused)
{
    (void)alarm(SECONDS);
    EVP_RAND_CTX *own = new_generator();
    if (own == NULL || !draw_from(own, 1)) {
        return 1;
    }
    EVP_RAND_CTX_free(shared->siblings);
    return EVP_RAND_verify_zeroization(own) == 1 || !draw_from(own, 1) ? 2 : 0;
}

UNIT_TEST("freeing a sibling's generator frees nothing else")
{
    CU_ASSERT_EQUAL(child_forked(make_for_siblings, NULL), 0);
    CU_ASSERT_EQUAL(WEXITSTATUS(child_forked(free_a_siblings_beside_own, NULL)), 0);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

/* ---- Workers of one program ---- */

static int draw_as_a_worker(void *unused)
{
    (void)alarm(SECONDS);
    unsigned char draw[POOL_DRAW];
    for (unsigned i = 0; i < DRAWS; i++) {
        if (RAND_bytes_ex(libctx, draw, sizeof(draw), 0) != 1 || !pool_add(draw) ||
            RAND_priv_bytes_ex(libctx, draw, sizeof(draw), 0) != 1 || !pool_add(draw)) {
            return 1;
        }
    }
    return 0;
}

/*
 * One after the other: at the same time they would wait for libcrypto's locks, which do not work between processes.
 * From OpenSSL 3.6 on a heap that is shared shares a thread's generators, too: so both are made before the fork.
 */
UNIT_TEST("workers of one context draw")
{
    unsigned char draw[POOL_DRAW];
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, draw, sizeof(draw), 0), 1);
    CU_ASSERT_TRUE(pool_add(draw));
    CU_ASSERT_EQUAL(RAND_priv_bytes_ex(libctx, draw, sizeof(draw), 0), 1);
    for (unsigned i = 0; i < WORKERS; i++) {
        CU_ASSERT_EQUAL(child_forked(draw_as_a_worker, NULL), 0);
    }
    CU_ASSERT_EQUAL(pool_size(), 1 + WORKERS * DRAWS * 2);
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

/* ---- Workers at once, from one generator that their parent has made ---- */

static EVP_RAND_CTX *inherited;

static int draw_many(unsigned worker)
{
    (void)alarm(SECONDS);
    for (unsigned i = 0; i < MANY; i++) {
        if (EVP_RAND_generate(inherited, shared->many[worker * MANY + i], SHORT, 0, 0, NULL, 0) != 1) {
            return 1;
        }
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, SHORT);
}

/* OpenSSL's own crashes here, or draws the same in two of them. */
UNIT_TEST("workers draw from one inherited generator at once")
{
    unsigned char draw[SHORT];
    pid_t workers[WORKERS];
    size_t equal = 0;
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, draw, sizeof(draw), 0), 1);
    inherited = RAND_get0_public(libctx);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        if (workers[i] == 0) {
            _exit(draw_many(i));
        }
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        int status = -1;
        CU_ASSERT_TRUE(workers[i] > 0 && waitpid(workers[i], &status, 0) == workers[i] && status == 0);
    }
    qsort(shared->many, WORKERS * MANY, SHORT, compare);
    for (size_t i = 1; i < WORKERS * MANY; i++) {
        equal += memcmp(shared->many[i - 1], shared->many[i], SHORT) == 0;
    }
    CU_ASSERT_EQUAL(equal, 0);
}

/* ---- random_bytes: the generators of threads ---- */

static void *provctx;

static void *draw_random_bytes(void *failed)
{
    unsigned char draw[POOL_DRAW];
    *(bool *)failed = drng_random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, draw, sizeof(draw), 0) != 1;
    return NULL;
}

static int draw_in_a_thread(void *unused)
{
    pthread_t thread;
    bool failed = true;
    (void)unused;
    (void)alarm(SECONDS);
    return pthread_create(&thread, NULL, draw_random_bytes, &failed) != 0 || pthread_join(thread, NULL) != 0 || failed;
}

/* Draws, forks workers whose threads draw and end, and frees the instance. */
static int outlive_workers(void *unused)
{
    const OSSL_DISPATCH *functions = NULL;
    bool failed = true;
    if (init_function()(fake_handle, fake_core, &functions, &provctx) != 1) {
        return 1;
    }
    (void)draw_random_bytes(&failed);
    for (unsigned i = 0; i < WORKERS && !failed; i++) {
        failed = child_forked(draw_in_a_thread, unused) != 0;
    }
    for (; functions->function_id != OSSL_FUNC_PROVIDER_TEARDOWN; functions++) {
    }
    ((OSSL_FUNC_provider_teardown_fn *)functions->function)(provctx);
    return failed ? 2 : 0;
}

UNIT_TEST("an instance outlives the threads of its workers")
{
    CU_ASSERT_EQUAL(child_forked(outlive_workers, NULL), 0);
}

/* NULL without a sanitizer. */
#pragma weak __lsan_register_root_region

int main(void)
{
    void *memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = memory != MAP_FAILED ? memory : NULL;
    if (shared == NULL || CRYPTO_set_mem_functions(from_heap, grow, to_heap) != 1 || !pool_open()) {
        return 1;
    }
    /* LeakSanitizer does not look by itself for pointers in memory that is shared. */
    if (__lsan_register_root_region != NULL) {
        __lsan_register_root_region(memory, sizeof(*shared));
    }
    libctx = evp_context("");
    ctr_drbg = libctx != NULL ? EVP_RAND_fetch(libctx, "CTR-DRBG", "provider=drng") : NULL;
    return ctr_drbg != NULL ? unit_run("shared_heap") : 1;
}
