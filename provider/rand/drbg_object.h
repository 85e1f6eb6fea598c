/* drbg_object.h - a CTR-DRBG of the provider's: what it is, for the files that work on one. */

#ifndef DRNG_DRBG_OBJECT_H
#define DRNG_DRBG_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/memory/lock.h"
#include "provider/observe/page.h"
#include "provider/provctx.h"
#include "provider/rand/parent.h"

/* What is secret or must not outlive a fork; in a slot. */
struct drng_drbg_secrets {
    struct drng_lock lock;
    atomic_bool busy; /* in the middle of a request: who sees it is a signal handler that interrupted that request */
    struct drng_ctr_drbg drbg;
    uint8_t entropy[DRNG_DRBG_MAX_SEEDLEN]; /* the entropy input, on its way in from one of drng's own */
};

/* What a request only reads, the reseed counters apart. */
struct drng_drbg {
    struct drng_provctx *provctx;
    struct drng_drbg_secrets *secrets;
    struct drng_parent parent;
    const struct drng_drbg *own_parent; /* the parent, where it is one of ours: its counter is read without its lock */
    bool parent_counts;                 /* a foreign parent that says how often it was seeded */
    bool own_chain;                     /* the chain of parents ends in drng's own seed source */
    bool mixes;                         /* requests take fresh words: only in such a chain */
    bool locking;
    struct drng_cell *cell; /* counts this generator's requests */

    int state;           /* EVP_RAND_STATE_* */
    uint64_t generation; /* of the process in which it was seeded (fork.h) */
    size_t key_len;
    bool use_df;
    struct drng_reseed_limits limits;
    time_t reseed_time;
    unsigned parent_seedings; /* the parent's, when this one was seeded from it */
    atomic_uint seedings;     /* read by children of other threads; never 0 */
};

/* How often it has been seeded, which its children ask from threads of their own. */
static inline unsigned drng_drbg_seedings(const struct drng_drbg *drbg)
{
    return atomic_load_explicit(&drbg->seedings, memory_order_relaxed);
}

/* Never to 0, which would read as "does not say". Only who holds the generator calls this. */
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
