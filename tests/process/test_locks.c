/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every lock of the module: where it lies, and what becomes of a child that is forked while a thread holds it.
 *
 * With the provider linked in, its calls of pthread_mutex_lock() come here (--wrap). One thread uses all there is of
 * the provider, and stops at each lock that it has taken; another forks then, and the child, which has no such thread,
 * uses all there is of the provider, too, and leaves by exit().
 */

#define _GNU_SOURCE

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/rand.h>

#include "tests/process/kernel.h"
#include "tests/process/scene.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum {
    KNOWN = 64, /* locks */
    EACH = 12,  /* times that one lock is held for a fork */
    SELF_TESTS = 30,
    CHILD_WATCHDOG = 60,
};

static atomic_bool holding; /* the holder stops at locks */
static _Thread_local bool holder;
static sem_t held;
static sem_t forked;
static pthread_mutex_t *known[KNOWN];
static unsigned times[KNOWN];
static unsigned known_count;
static bool kept_by_fork; /* one lay where a fork does not wipe */

static unsigned times_held(pthread_mutex_t *lock)
{
    unsigned i = 0;
    while (i < known_count && known[i] != lock) {
        i++;
    }
    if (i == known_count) {
        known[known_count++ % KNOWN] = lock;
        if (!kernel_wipes_address(lock)) {
            kept_by_fork = true;
            (void)scene_says("the lock at %p lies in memory that a fork does not wipe", (void *)lock);
        }
    }
    return ++times[i % KNOWN];
}

int __real_pthread_mutex_lock(pthread_mutex_t *lock);

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
    const int result = __real_pthread_mutex_lock(lock);
    if (holder && atomic_load(&holding) && times_held(lock) <= EACH) {
        (void)sem_post(&held);
        (void)sem_wait(&forked);
    }
    return result;
}

/* ---- All there is of the provider ---- */

static OSSL_LIB_CTX *libctx; /* loaded before; the holder's are its own */

static bool use(OSSL_LIB_CTX *context)
{
    unsigned char out[32];
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(context, "drng");
    EVP_RAND_CTX *own = evp_rand_ready(context, "CTR-DRBG", "provider=drng", NULL);
    EVP_RAND_CTX *source = evp_rand_ready(context, "DRNG-SEED", "provider=drng", NULL);
    bool used = provider != NULL && own != NULL && source != NULL && RAND_bytes_ex(context, out, sizeof(out), 0) == 1;
    used = used && EVP_RAND_enable_locking(own) == 1 && EVP_RAND_enable_locking(source) == 1;
    used = used && EVP_RAND_generate(own, out, sizeof(out), 0, 1, NULL, 0) == 1;
    used = used && EVP_RAND_generate(source, out, sizeof(out), 0, 0, NULL, 0) == 1;
    used = used && EVP_RAND_reseed(RAND_get0_primary(context), 0, NULL, 0, NULL, 0) == 1;
    used = used && OSSL_PROVIDER_self_test(provider) == 1 && strcmp(evp_text(context, "active-source"), "none") != 0;
    EVP_RAND_CTX_free(own);
    EVP_RAND_CTX_free(source);
    OSSL_PROVIDER_unload(provider);
    return used;
}

/* While a context is freed libcrypto holds a lock of its own, which no child can free another context with. */
static atomic_bool freeing;

static bool use_and_free(void)
{
    OSSL_LIB_CTX *context = evp_context(scene_argument());
    const bool used = context != NULL && use(context);
    atomic_store(&freeing, true);
    OSSL_LIB_CTX_free(context);
    atomic_store(&freeing, false);
    return used;
}

/* ---- A fork while a lock is held ---- */

static int use_in_child(void *unused)
{
    (void)alarm(CHILD_WATCHDOG);
    bool used = use(libctx);
    if (atomic_load(&freeing)) {
        _exit(used ? 0 : 1);
    }
    used = used && use_and_free();
    OSSL_LIB_CTX_free(libctx);
    exit(used ? 0 : 1);
}

static void *use_and_stop_at_locks(void *unused)
{
    holder = true;
    const bool used = use_and_free() && use(libctx);
    atomic_store(&holding, false);
    (void)sem_post(&held);
    return used ? unused : &libctx;
}

static int play_held(void)
{
    pthread_t id;
    void *failed = NULL;
    unsigned forks = 0;
    unsigned stuck = 0;
    if (sem_init(&held, 0, 0) != 0 || sem_init(&forked, 0, 0) != 0) {
        return 1;
    }
    libctx = evp_context(scene_argument());
    if (libctx == NULL || !use(libctx)) {
        return 1;
    }
    atomic_store(&holding, true);
    if (pthread_create(&id, NULL, use_and_stop_at_locks, NULL) != 0) {
        return 1;
    }
    while (sem_wait(&held) == 0 && atomic_load(&holding)) {
        const int status = child_forked(use_in_child, NULL);
        forks++;
        if (status != 0) {
            stuck++;
            (void)scene_says("fork %u: the child's status is %#x", forks, (unsigned)status);
        }
        /* One that hangs says it all. */
        if (stuck > 0) {
            _exit(3);
        }
        (void)sem_post(&forked);
    }
    if (pthread_join(id, &failed) != 0 || failed != NULL) {
        return 2;
    }
    (void)printf("  %u locks, %u forks\n", known_count, forks);
    return known_count > 0 && known_count <= KNOWN && !kept_by_fork ? 0 : 4;
}

/* ---- As it was found ---- */

static atomic_bool enough;

static void *self_test_for_ever(void *vprovider)
{
    while (!atomic_load(&enough)) {
        (void)OSSL_PROVIDER_self_test(vprovider);
    }
    return NULL;
}

static int leave_by_exit(void *unused)
{
    (void)alarm(CHILD_WATCHDOG);
    exit(0);
}

/* The default context, which exit() frees. */
static int play_self_test(void)
{
    pthread_t id;
    OSSL_PROVIDER *provider = evp_configure_default() ? OSSL_PROVIDER_load(NULL, "drng") : NULL;
    /* The configuration holds it, and nobody else: exit() is to be the one to unload it. */
    if (provider == NULL || OSSL_PROVIDER_unload(provider) != 1 ||
        pthread_create(&id, NULL, self_test_for_ever, provider) != 0) {
        return 1;
    }
    for (unsigned i = 0; i < SELF_TESTS; i++) {
        if (child_forked(leave_by_exit, NULL) != 0) {
            (void)scene_says("the child of fork %u hangs in exit()", i);
            _exit(3);
        }
    }
    atomic_store(&enough, true);
    return pthread_join(id, NULL) == 0 ? 0 : 2;
}

static const struct scene scenes[] = {{"held", play_held}, {"self-test", play_self_test}};

UNIT_TEST("every lock is free in a child")
{
    static const char *const keys[] = {"", "conditioner = hmac-sha256\n"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        CU_ASSERT_EQUAL(scene_play("held", keys[i], SCENE_AS_IT_IS), 0);
        CU_ASSERT_EQUAL(scene_play("held", keys[i], SCENE_MASKED), 0);
    }
}

UNIT_TEST("a fork during a self-test")
{
    CU_ASSERT_EQUAL(scene_play("self-test", "", SCENE_AS_IT_IS), 0);
}

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes, sizeof(scenes) / sizeof(*scenes));
    if (kernel_is_instrumented()) {
        return unit_skipped("the tools' own locks do not survive such forks");
    }
    if (unit_emulated("its own locks do not survive such forks")) {
        return UNIT_SKIPPED;
    }
    return unit_run("locks");
}
