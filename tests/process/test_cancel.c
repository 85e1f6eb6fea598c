/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are cancelled while they draw, load, seed or unload: the others draw on.
 *
 * Each operation is begun by a thread with a cancellation pending, which acts at the first cancellation point on the
 * way, so at each that is the first of its operation. Asynchronous cancellation in a draw is not supported.
 */

#define _GNU_SOURCE

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/rand.h>

#include "tests/process/kernel.h"
#include "tests/process/scene.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum {
    SELF_CANCELLED = 600, /* a primary reseeds after 256 requests: at the 254th thread or so, and again */
    ROUNDS = 40,
    DRAW = 16,
};

static OSSL_LIB_CTX *libctx;
static EVP_RAND_CTX *shared; /* a generator of the scene's own, with locking */

static bool draws(OSSL_LIB_CTX *context)
{
    unsigned char out[DRAW];
    return RAND_bytes_ex(context, out, sizeof(out), 0) == 1 && RAND_priv_bytes_ex(context, out, sizeof(out), 0) == 1;
}

/* ---- What must go on afterwards ---- */

static void *draw_in_thread(void *unused)
{
    return draws(libctx) && EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0) == 1 ? NULL : &libctx;
}

static bool other_threads_draw(void)
{
    pthread_t id;
    void *failed = &libctx;
    return pthread_create(&id, NULL, draw_in_thread, NULL) == 0 && pthread_join(id, &failed) == 0 && failed == NULL;
}

/* By exit(), which unloads. */
static int draw_and_exit(void *unused)
{
    (void)alarm(30);
    exit(draws(libctx) ? 0 : 1);
}

/* The scene's result: 0 where threads, this one, a child and a generator made now are served. */
static int goes_on(void)
{
    EVP_RAND_CTX *fresh = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    EVP_RAND_CTX_free(fresh);
    if (fresh == NULL) {
        return 10;
    }
    if (!draws(libctx) || !other_threads_draw()) {
        ERR_print_errors_fp(stderr);
        return 11;
    }
    if (child_forked(draw_and_exit, NULL) != 0) {
        return 12;
    }
    return 0;
}

/* ---- Deferred ---- */

/* One operation; what it returns is not looked at, since it may never return. */
typedef void operation(void);

static void *cancelled_in(void *vwork)
{
    operation *const *work = vwork;
    (void)pthread_cancel(pthread_self());
    (*work)();
    return NULL;
}

static bool cancel_in(operation *work)
{
    pthread_t id;
    return pthread_create(&id, NULL, cancelled_in, &work) == 0 && pthread_join(id, NULL) == 0;
}

static void operate_draw(void)
{
    (void)draws(libctx);
}

static void operate_reseed_primary(void)
{
    (void)EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0);
}

static void operate_reseed_public(void)
{
    (void)EVP_RAND_reseed(RAND_get0_public(libctx), 1, NULL, 0, NULL, 0);
}

static void operate_shared(void)
{
    unsigned char out[DRAW];
    (void)EVP_RAND_generate(shared, out, sizeof(out), 0, 1, NULL, 0);
}

/* Leaves its generator where it is, as a cancelled thread does. */
static void operate_first_seed(void)
{
    EVP_RAND *algorithm = EVP_RAND_fetch(libctx, "CTR-DRBG", "provider=drng");
    EVP_RAND_CTX *rand = EVP_RAND_CTX_new(algorithm, NULL);
    EVP_RAND_free(algorithm);
    (void)EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL);
}

static void operate_seed_source(void)
{
    unsigned char out[DRAW];
    EVP_RAND_CTX *rand = evp_rand(libctx, "DRNG-SEED", "provider=drng", NULL);
    (void)EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL);
    (void)EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0);
}

static void operate_self_test(void)
{
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    (void)OSSL_PROVIDER_self_test(provider);
}

static const struct {
    const char *name;
    operation *work;
} operations[] = {
    {"draw", operate_draw},
    {"reseed of the primary", operate_reseed_primary},
    {"reseed of public", operate_reseed_public},
    {"request that reseeds", operate_shared},
    {"first seed", operate_first_seed},
    {"seed source", operate_seed_source},
    {"self-test", operate_self_test},
};

enum { OPERATIONS = sizeof(operations) / sizeof(*operations) };

/* The scene's argument holds the provider's keys. */
static bool open_generators(void)
{
    libctx = evp_context(scene_argument());
    shared = libctx != NULL ? evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL) : NULL;
    return shared != NULL && EVP_RAND_enable_locking(shared) == 1 && draws(libctx);
}

static int play_deferred(void)
{
    if (!open_generators()) {
        return 1;
    }
    for (unsigned i = 0; i < OPERATIONS; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            if (!cancel_in(operations[i].work)) {
                return 2;
            }
        }
        const int result = goes_on();
        if (result != 0) {
            (void)scene_says("%s: result %d", operations[i].name, result);
            return result;
        }
    }
    return 0;
}

/* As in the issue: every thread's first draw makes its generators, which the primary seeds. */
static int play_many_threads(void)
{
    if (!open_generators()) {
        return 1;
    }
    for (unsigned i = 0; i < SELF_CANCELLED; i++) {
        if (!cancel_in(operate_draw)) {
            return 2;
        }
    }
    return goes_on();
}

/* ---- The first to load, the last to unload ---- */

static OSSL_LIB_CTX *other;

static void operate_load(void)
{
    (void)OSSL_PROVIDER_load(other, "drng");
}

/* A thread that loads the module for the first time in its process is cancelled in it. */
static int play_load(void)
{
    other = OSSL_LIB_CTX_new();
    if (other == NULL || !evp_make_loadable(other) || !cancel_in(operate_load)) {
        return 1;
    }
    return open_generators() ? goes_on() : 2;
}

static void operate_unload(void)
{
    OSSL_LIB_CTX_free(other);
}

static int play_unload(void)
{
    other = evp_context(scene_argument());
    if (other == NULL || !draws(other) || !cancel_in(operate_unload)) {
        return 1;
    }
    return open_generators() ? goes_on() : 2;
}

/* ---- The tests ---- */

static const struct scene scenes[] = {
    {"deferred", play_deferred},
    {"many-threads", play_many_threads},
    {"load", play_load},
    {"unload", play_unload},
};

/* Every way to a seed: an instruction, the default seed source, HMAC; and requests that ask for words. */
static void plays_with_every_source(const char *scene)
{
    static const char *const keys[] = {"", "request_mixing = no\n", "conditioner = hmac-sha256\n", "os_mixing = no\n"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        CU_ASSERT_EQUAL(scene_play(scene, keys[i], SCENE_AS_IT_IS), 0);
        CU_ASSERT_EQUAL(scene_play(scene, keys[i], SCENE_MASKED), 0);
    }
}

UNIT_TEST("threads that cancel themselves")
{
    plays_with_every_source("many-threads");
}

UNIT_TEST("every operation")
{
    plays_with_every_source("deferred");
}

UNIT_TEST("the first load")
{
    plays_with_every_source("load");
}

UNIT_TEST("the last unload")
{
    plays_with_every_source("unload");
}

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes, sizeof(scenes) / sizeof(*scenes));
    if (kernel_is_instrumented()) {
        return unit_skipped("a cancelled thread leaves the tools' own locks behind, too");
    }
    if (unit_emulated("a cancelled thread may leave its own locks behind")) {
        return UNIT_SKIPPED;
    }
    return unit_run("cancellation");
}
