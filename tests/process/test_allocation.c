/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation fails once, each in its turn, and then all from there on: no crash, and no byte from a generator
 * without a seed.
 *
 * Not those of OSSL_LIB_CTX_new() and of loading openssl.cnf, in which libcrypto 3.0 crashes by itself; the provider's
 * own part of the loading is run against a core of the test's.
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

/* ---- An allocator that fails ---- */

static atomic_uint allocations; /* since the scenario began */
static unsigned first_failure;  /* the number of the first that fails; 0: none does */
static unsigned last_failure;   /* and of the last */

static bool fails(void)
{
    const unsigned number = atomic_fetch_add(&allocations, 1) + 1;
    return first_failure != 0 && number >= first_failure && number <= last_failure;
}

static void fail_between(unsigned first, unsigned last)
{
    atomic_store(&allocations, 0);
    first_failure = first;
    last_failure = last;
}

/* ---- libcrypto's allocator, through which our own calls go too ---- */

/* What our own files hold, so that a leak of ours is told from libcrypto's, which leaks where memory is short. */
enum { HELD = 1024 };
static void *held[HELD];
static unsigned held_count;
static bool held_ever;

/* Some builds of libcrypto do not say where its own calls come from. */
static bool is_ours(const char *file)
{
    return file != NULL && (strncmp(file, "provider/", 9) == 0 || strncmp(file, "mixing/", 7) == 0);
}

static void *failing_malloc(size_t len, const char *file, int line)
{
    void *memory = fails() ? NULL : malloc(len);
    if (memory != NULL && is_ours(file) && held_count < HELD) {
        held[held_count++] = memory;
        held_ever = true;
    }
    return memory;
}

static void *failing_realloc(void *memory, size_t len, const char *file, int line)
{
    return fails() ? NULL : realloc(memory, len);
}

static void plain_free(void *memory, const char *file, int line)
{
    for (unsigned i = 0; memory != NULL && i < held_count; i++) {
        if (held[i] == memory) {
            held[i] = held[--held_count];
            break;
        }
    }
    free(memory);
}

/* LeakSanitizer would report libcrypto's. */

int __lsan_is_turned_off(void)
{
    return 1;
}

/* Ours, past libcrypto: the linker brings the calls here (--wrap). */
void *__real_calloc(size_t count, size_t size);
void *__real_mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset);

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    return fails() ? MAP_FAILED : __real_mmap(at, len, protection, flags, fd, offset);
}

/* ---- The scenario ---- */

enum {
    OWN = 70,   /* generators enough for a second chunk of slots */
    USED = 8,   /* one in so many is used */
    SAMPLE = 3, /* one allocation in so many fails, where a sample will do */
};

/*
 * With no memory to parse "provider=drng", EVP_RAND_fetch() of OpenSSL 3.5 and later takes any CTR-DRBG, the default
 * provider's too. Nothing that a provider can prevent.
 */
static bool loses_queries(void)
{
    return OpenSSL_version_num() >= 0x30500000L;
}

/* A draw that succeeds came from a generator, of drng's wherever the choice was ours, that has been seeded. */
static bool honest(EVP_RAND_CTX *rand, int drawn, const unsigned char *out, size_t len)
{
    if (drawn != 1) {
        return true;
    }
    const bool ours = strcmp(evp_server(rand), "drng") == 0 || (first_failure == last_failure && loses_queries());
    return ours && EVP_RAND_get_state(rand) == EVP_RAND_STATE_READY && !bytes_are(out, len, 0);
}

static bool draw_from_libcrypto(OSSL_LIB_CTX *libctx)
{
    unsigned char out[32] = {0};
    const int public = RAND_bytes_ex(libctx, out, sizeof(out), 0);
    if (public == 1 && !honest(RAND_get0_public(libctx), public, out, sizeof(out))) {
        return false;
    }
    memset(out, 0, sizeof(out));
    const int private = RAND_priv_bytes_ex(libctx, out, sizeof(out), 0);
    return private != 1 || honest(RAND_get0_private(libctx), private, out, sizeof(out));
}

static bool draw_from_own(OSSL_LIB_CTX *libctx)
{
    EVP_RAND *algorithm = EVP_RAND_fetch(libctx, "CTR-DRBG", "provider=drng");
    EVP_RAND_CTX *own[OWN] = {NULL};
    bool all_honest = true;
    for (unsigned i = 0; algorithm != NULL && i < OWN; i++) {
        unsigned char out[32] = {0};
        own[i] = EVP_RAND_CTX_new(algorithm, i % 2 == 0 ? NULL : own[i - 1]);
        if (own[i] != NULL && i % USED <= 1) {
            (void)EVP_RAND_instantiate(own[i], 0, 0, NULL, 0, NULL);
            (void)EVP_RAND_reseed(own[i], 0, NULL, 0, NULL, 0);
            const int drawn = EVP_RAND_generate(own[i], out, sizeof(out), 0, 0, NULL, 0);
            all_honest = honest(own[i], drawn, out, sizeof(out)) && all_honest;
        }
    }
    for (unsigned i = OWN; i-- > 0;) {
        EVP_RAND_CTX_free(own[i]);
    }
    EVP_RAND_free(algorithm);
    return all_honest;
}

/* ---- A scenario: which of its allocations fail, and what came of it ---- */

typedef bool scenario(const char *keys, unsigned first, unsigned last);

/* Draws in every way from a context that has been loaded; false: a byte that should not have come. */
static bool draw_all(const char *keys, unsigned first, unsigned last)
{
    OSSL_LIB_CTX *libctx = evp_context(keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    fail_between(first, last);
    const bool all_honest = draw_from_libcrypto(libctx) && draw_from_own(libctx);
    first_failure = 0;
    OSSL_LIB_CTX_free(libctx);
    ERR_clear_error();
    return all_honest;
}

extern OSSL_provider_init_fn OSSL_provider_init;

typedef int random_bytes_fn(void *provctx, int which, void *buffer, size_t len, unsigned strength);
typedef void teardown_fn(void *provctx);

/* Loads, draws as OpenSSL 3.5 does, and unloads. */
static bool load_and_unload(const char *keys, unsigned first, unsigned last)
{
    const OSSL_DISPATCH *functions = NULL;
    void *provctx = NULL;
    unsigned char out[32] = {0};
    bool all_honest = true;
    fake_core_set("conditioner", "hmac-sha256");
    fail_between(first, last);
    if (OSSL_provider_init(fake_handle, fake_core, &functions, &provctx) != 1) {
        first_failure = 0;
        return true;
    }
    teardown_fn *teardown = NULL;
    for (; functions->function_id != 0; functions++) {
        if (functions->function_id == 1032) {
            const int drawn = ((random_bytes_fn *)functions->function)(provctx, 0, out, sizeof(out), 0);
            all_honest = (drawn == 1) != bytes_are(out, sizeof(out), 0);
        } else if (functions->function_id == OSSL_FUNC_PROVIDER_TEARDOWN) {
            teardown = (teardown_fn *)functions->function;
        }
    }
    first_failure = 0;
    teardown(provctx);
    return all_honest;
}

/* Each allocation in its turn fails, alone or with all that come after it. */
static void run_with_failures(scenario *run, const char *keys, bool alone)
{
    /* The first run also makes what libcrypto makes once in a process. */
    CU_ASSERT_TRUE(run(keys, 0, 0));
    CU_ASSERT_TRUE(run(keys, 0, 0));
    const unsigned count = atomic_load(&allocations);
    unsigned dishonest = 0;
    CU_ASSERT_TRUE(count > 3);
    CU_ASSERT_TRUE(held_ever);
    unsigned leaking = 0;
    for (unsigned i = 1; i <= count; i += unit_samples() ? SAMPLE : 1) {
        dishonest += !run(keys, i, alone ? i : UINT_MAX);
        leaking += held_count > 0;
    }
    CU_ASSERT_EQUAL(dishonest, 0);
    CU_ASSERT_EQUAL(leaking, 0);
    CU_ASSERT_TRUE(run(keys, 0, 0));
    CU_ASSERT_EQUAL(kernel_filled_slots(), 0);
}

UNIT_TEST("every allocation fails once")
{
    run_with_failures(draw_all, "", true);
}

UNIT_TEST("every allocation is the last")
{
    run_with_failures(draw_all, "", false);
}

UNIT_TEST("with HMAC")
{
    run_with_failures(draw_all, "conditioner = hmac-sha256\nfallback = no\n", true);
}

UNIT_TEST("in loading the provider")
{
    run_with_failures(load_and_unload, NULL, true);
    run_with_failures(load_and_unload, NULL, false);
}

int main(void)
{
    if (CRYPTO_set_mem_functions(failing_malloc, failing_realloc, plain_free) != 1) {
        return 1;
    }
    if (kernel_is_under_valgrind()) {
        return unit_skipped("some thousand runs are too many for valgrind");
    }
    /* What fails prints its errors, and there are thousands. */
    evp_be_quiet();
    return unit_run("allocation");
}
