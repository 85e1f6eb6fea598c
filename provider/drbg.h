/*
 * drbg.h - CTR-DRBG as an EVP_RAND: a drop-in for libcrypto's own of that name (EVP_RAND-CTR-DRBG(7)).
 *
 * The functions are OpenSSL's, see provider-rand(7); void * is a struct drng_drbg.
 */

#ifndef DRNG_DRBG_H
#define DRNG_DRBG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <openssl/core_dispatch.h>

#include "mixing/ctr_drbg.h"
#include "mixing/fork.h"
#include "provider/page.h"
#include "provider/parent.h"
#include "provider/provctx.h"

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
    const struct drng_drbg *kin; /* the parent, where it is one of ours: its counter is read without its lock */
    bool parent_counts;          /* a foreign parent that says how often it was seeded */
    bool own_chain;              /* the chain of parents ends in drng's own seed source */
    bool mixes;                  /* requests take fresh words: only in such a chain */
    bool locking;
    struct drng_cell *cell; /* counts this generator's requests */

    int state;           /* EVP_RAND_STATE_* */
    uint64_t generation; /* of the process in which it was seeded (fork.h) */
    size_t key_len;
    bool use_df;
    struct drng_reseed_limits limits;
    time_t reseed_time;
    unsigned parent_reseed_counter; /* the parent's, when this one was seeded from it */
    atomic_uint reseed_counter;     /* read by children of other threads; never 0 */
};

/* How often it has been seeded, which its children ask from threads of their own. */
static inline unsigned drng_drbg_seedings(const struct drng_drbg *drbg)
{
    return atomic_load_explicit(&drbg->reseed_counter, memory_order_relaxed);
}

/* Never to 0, which would read as "does not say". Only who holds the generator calls this. */
static inline void drng_drbg_count_seeding(struct drng_drbg *drbg)
{
    const unsigned next = drng_drbg_seedings(drbg) + 1;
    atomic_store_explicit(&drbg->reseed_counter, next != 0 ? next : 1, memory_order_relaxed);
}

extern const OSSL_DISPATCH drng_drbg_functions[];

OSSL_FUNC_rand_newctx_fn drng_drbg_newctx;
OSSL_FUNC_rand_freectx_fn drng_drbg_freectx;
OSSL_FUNC_rand_instantiate_fn drng_drbg_instantiate;
OSSL_FUNC_rand_generate_fn drng_drbg_generate;
OSSL_FUNC_rand_enable_locking_fn drng_drbg_enable_locking;

/* drbg_params.c */
OSSL_FUNC_rand_gettable_ctx_params_fn drng_drbg_gettable_ctx_params;
OSSL_FUNC_rand_get_ctx_params_fn drng_drbg_get_ctx_params;
OSSL_FUNC_rand_settable_ctx_params_fn drng_drbg_settable_ctx_params;
OSSL_FUNC_rand_set_ctx_params_fn drng_drbg_set_ctx_params;

/* drbg_seed.c: both leave the state READY, or ERROR and an error in the queue. */
bool drng_drbg_seed_first(struct drng_drbg *drbg, bool prediction_resistance, struct drng_bytes personalization);
bool drng_drbg_seed_again(struct drng_drbg *drbg, bool prediction_resistance, struct drng_bytes entropy,
                          struct drng_bytes additional);

/* Sets the secrets to zero and the state to UNINITIALISED. */
void drng_drbg_forget(struct drng_drbg *drbg);

/*
 * drbg_apart.c: a request that came while the generator is in the middle of another one. Served by a generator that
 * lives for this request on the stack, seeded from the provider's own source. False: the error is in the queue, and out
 * is wiped.
 */
bool drng_drbg_generate_apart(const struct drng_drbg *drbg, uint8_t *out, size_t out_len, struct drng_bytes additional);

/* What libcrypto's generators use where the caller gives no personalization string; its NUL is part of it. */
extern const unsigned char drng_default_personalization[29];

/* How much entropy input an instantiation without a nonce takes: half as much again (SP 800-90A Rev. 1, 8.6.7). */
size_t drng_drbg_first_entropy_len(const struct drng_drbg *drbg);

/* SP 800-90A Rev. 1, Table 3, in bytes; libcrypto's names for them. */
struct drng_drbg_lengths {
    size_t min_entropy;
    size_t max_entropy;
    size_t min_nonce;
    size_t max_nonce;
    size_t max_input; /* of a personalization string or an additional input */
};

struct drng_drbg_lengths drng_drbg_lengths_of(const struct drng_drbg *drbg);

static inline unsigned drng_drbg_strength(const struct drng_drbg *drbg)
{
    return (unsigned)(8 * drbg->key_len);
}

#endif
