/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instance has so many pairs of generators, each with a lock. A thread draws from the pair that its number leads to,
 * so threads that are more than the pairs share them, and one that has ended leaves nothing. Where another thread draws
 * from it now, a thread goes to one of the next pairs, and waits only for the very last, which is nobody's.
 */
#include "provider/rand/random_bytes.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "mixing/machine/wipe.h"
#include "provider/errors.h"
#include "provider/provctx.h"
#include "provider/rand/drbg.h"
#include "provider/rand/instruction_rand.h"

/*
 * Where n pairs are in use at once, a thread finds its own and the next three taken with a chance of (n / 64)^4, and
 * waits: 1 draw of 4,096 where 8 CPUs draw at once, 1 of 256 where 16 do. With one pair it would be 1 of 8 and 1 of 4.
 */
enum {
    PAIRS = 64,
    OTHERS = 4,                      /* where a thread goes whose own is taken: the next three, then the last pair */
    CHILD_RESEED_REQUESTS = 1 << 16, /* libcrypto's, for its public and private generators */
    CHILD_RESEED_INTERVAL = 7 * 60,  /* seconds */
};

struct pair {
    atomic_bool made;                   /* by the first thread that draws from it */
    struct drng_generator generator[2]; /* OSSL_PROV_RANDOM_PUBLIC and _PRIVATE */
};

/*
 * Memory of the C library, and none of the core's: that may lie where processes share it, and each process makes pairs
 * of its own.
 */
struct drng_pairs {
    struct drng_generator primary;
    struct pair pairs[PAIRS + 1];   /* the last one is waited for */
    struct drng_pairs *left_before; /* the pairs that were left to the kernel before these */
};

/* ---- Instances ---- */

bool drng_pairs_open(struct drng_provctx *provctx)
{
    struct drng_pairs *pairs = calloc(1, sizeof(*pairs));
    if (pairs != NULL) {
        pairs->primary.source = &drng_root_source;
        pairs->primary.source_arg = &provctx->root;
    }
    if (pairs == NULL || !drng_drbg_prepare(provctx, &pairs->primary, true)) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        free(pairs);
        return false;
    }
    drng_generator_enable_locking(&pairs->primary);
    provctx->pairs = pairs;
    return true;
}

static void discard_pair(struct pair *pair)
{
    drng_drbg_discard(&pair->generator[OSSL_PROV_RANDOM_PUBLIC]);
    drng_drbg_discard(&pair->generator[OSSL_PROV_RANDOM_PRIVATE]);
}

bool drng_pairs_close(struct drng_provctx *provctx)
{
    struct drng_pairs *pairs = provctx->pairs;
    struct drng_guard guard;
    if (!drng_guard_enter(&guard)) {
        return false;
    }
    for (size_t i = 0; i <= PAIRS; i++) {
        if (atomic_load(&pairs->pairs[i].made)) {
            discard_pair(&pairs->pairs[i]);
        }
    }
    drng_drbg_discard(&pairs->primary);
    free(pairs);
    (void)drng_guard_note(guard.before);
    return true;
}

void drng_pairs_leave(struct drng_provctx *provctx)
{
    static struct drng_pairs *_Atomic left;
    provctx->pairs->left_before = atomic_exchange(&left, provctx->pairs);
}

/* ---- The first draw from a pair ---- */

/* Under DRNG_LOCK_PAIRS. A child that another thread forks meanwhile makes the pair anew: the slots are lost there. */
static enum drng_result make_pair(struct drng_provctx *provctx, struct pair *pair)
{
    const enum drng_locking locking = pair == &provctx->pairs->pairs[PAIRS] ? DRNG_WAITS : DRNG_TRIES;
    bool made = true;
    for (unsigned which = 0; which < 2; which++) {
        struct drng_generator *g = &pair->generator[which];
        *g = (struct drng_generator){.parent = &provctx->pairs->primary};
        made = drng_drbg_prepare(provctx, g, true) && made;
        g->config.limits.requests = CHILD_RESEED_REQUESTS;
        g->config.limits.interval = CHILD_RESEED_INTERVAL;
        g->locking = locking;
    }
    if (!made) {
        discard_pair(pair);
        return DRNG_NO_MEMORY;
    }
    atomic_store_explicit(&pair->made, true, memory_order_release);
    return DRNG_OK;
}

struct making {
    struct drng_provctx *provctx;
    struct pair *pair;
};

static enum drng_result make_once(void *vmaking, ossl_unused const struct drng_guard *guard)
{
    const struct making *m = vmaking;
    enum drng_result result = DRNG_OK;
    if (!drng_lock(drng_process_lock(DRNG_LOCK_PAIRS))) {
        return DRNG_BUSY;
    }
    if (!atomic_load(&m->pair->made)) {
        result = make_pair(m->provctx, m->pair);
    }
    drng_unlock(drng_process_lock(DRNG_LOCK_PAIRS));
    return result;
}

static __attribute__((noinline, cold)) enum drng_result make(struct drng_provctx *provctx, struct pair *pair)
{
    struct making making = {provctx, pair};
    return drng_guard_run_piecewise(make_once, &making);
}

/* ---- Draws ---- */

/* In the order of first draws. A child counts on from its parent. */
static inline unsigned number_of_thread(void)
{
    static atomic_uint last;
    static _Thread_local unsigned number; /* 0: none yet */
    if (__builtin_expect(number == 0, 0)) {
        number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    }
    return number;
}

static inline struct drng_generator *generator_of(struct pair *pair, int which)
{
    return &pair->generator[which == OSSL_PROV_RANDOM_PRIVATE];
}

/*
 * From the thread's own pair, which may have to be made, and where another thread draws from that, from the others.
 * With DRNG_OK the thread has drawn from its own, and there is a seed to tell of.
 */
static __attribute__((noinline, cold)) int draw_from_any(struct drng_provctx *provctx, int which, void *buffer,
                                                         size_t len, unsigned strength, enum drng_result result)
{
    struct drng_generator *g = generator_of(&provctx->pairs->pairs[number_of_thread() % PAIRS], which);
    for (unsigned i = 0; result == DRNG_BUSY && i <= OTHERS; i++) {
        struct pair *pair = &provctx->pairs->pairs[i < OTHERS ? (number_of_thread() + i) % PAIRS : PAIRS];
        g = generator_of(pair, which);
        result = atomic_load_explicit(&pair->made, memory_order_acquire) ? DRNG_OK : make(provctx, pair);
        result = result == DRNG_OK ? drng_generator_generate(g, buffer, len, strength, NULL) : result;
    }
    if (result != DRNG_OK) {
        drng_wipe(buffer, len);
    }
    return drng_drbg_answer(provctx, g, result, true);
}

int drng_random_bytes(void *vprovctx, int which, void *buffer, size_t len, unsigned strength)
{
    struct drng_provctx *provctx = vprovctx;
    struct pair *pair = &provctx->pairs->pairs[number_of_thread() % PAIRS];
    struct drng_generator *g = generator_of(pair, which);
    uint64_t epoch = 0;
    int answer = 0;
    do {
        /* the same where another thread draws from this pair, or a call is refused */
        enum drng_result result = DRNG_BUSY;
        epoch = drng_epoch();
        if (__builtin_expect(atomic_load_explicit(&pair->made, memory_order_acquire), 1)) {
            result = drng_generator_generate(g, buffer, len, strength, NULL);
            if (__builtin_expect(result == DRNG_OK && drng_drbg_is_told(g), 1)) {
                return 1;
            }
        }
        answer = draw_from_any(provctx, which, buffer, len, strength, result);
    } while (answer == 1 && drng_epoch() != epoch); /* drbg.h */
    return answer;
}
