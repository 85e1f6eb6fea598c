/* drbg_object.h - the CTR-DRBG object, for the files that implement it. */

#ifndef DRNG_DRBG_OBJECT_H
#define DRNG_DRBG_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/memory/lock.h"
#include "mixing/memory/secmem.h"
#include "provider/observe/stats.h"
#include "provider/provctx.h"
#include "provider/rand/parent.h"

enum { DRNG_STORE_SIZE = DRNG_WIDE_SLOT_SIZE }; /* bytes of output that one Generate request stores */

/* In a slot: what is secret, or must not survive a fork. */
struct drng_drbg_secrets {
    struct drng_lock lock;
    struct drng_ctr_drbg drbg;
    size_t stored;                          /* bytes at the end of the store that have not been handed out */
    uint8_t entropy[DRNG_DRBG_MAX_SEEDLEN]; /* entropy input from one of drng's own parents */
};

/* Outside the slot. Apart from the reseed counters, a request only reads this. */
struct drng_drbg {
    struct drng_provctx *provctx;
    struct drng_drbg_secrets *secrets;
    struct drng_parent parent;
    const struct drng_drbg
        *own_parent;    /* the parent, if it is one of drng's own: its seedings are read without its lock */
    bool parent_counts; /* the parent is not drng's own, and has a reseed counter */
    bool root_joins;    /* the parent is OpenSSL's own seed source: drng's root and the parent seed it together */
    bool own_chain;     /* the chain of parents ends in drng's own seed source, or the root joins in it */
    enum drng_request_mixing mixing; /* never, unless own_chain */
    uint8_t *store;                  /* store.h, in a slot of its own; NULL: every request is a Generate request */
    bool locking;
    struct drng_request_counts *counts; /* of this generator's requests */

    atomic_uint_least64_t under_way; /* the number of the thread (thread.h) whose request it is; 0: none is */

    int state;           /* EVP_RAND_STATE_* */
    uint64_t epoch;      /* in which it was seeded (clone.h) */
    uint64_t generation; /* in which it was seeded (fork.h) */
    size_t key_len;
    bool use_df;
    struct drng_reseed_limits limits;
    time_t reseed_time;
    unsigned parent_seedings; /* the parent's seedings when this generator was last seeded */
    atomic_uint seedings;     /* how often it was seeded; children in other threads read it; never 0 */
};

/* How often the generator was seeded. Its children call this from their own threads. */
static inline unsigned drng_drbg_seedings(const struct drng_drbg *drbg)
{
    return atomic_load_explicit(&drbg->seedings, memory_order_relaxed);
}

/* Skips 0, which means "does not say". To be called only under the generator's lock, or by its only user. */
static inline void drng_drbg_count_seeding(struct drng_drbg *drbg)
{
    const unsigned next = drng_drbg_seedings(drbg) + 1;
    atomic_store_explicit(&drbg->seedings, next != 0 ? next : 1, memory_order_relaxed);
}

static inline unsigned drng_drbg_strength(const struct drng_drbg *drbg)
{
    return (unsigned)(8 * drbg->key_len);
}

#endif
