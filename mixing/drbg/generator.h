/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generator.h - a CTR_DRBG with all that it needs in a program: its seeds, its limits, its lock and request mixing.
 * EVP_RAND's CTR-DRBG, random_bytes and libdrng's handles are adapters of it.
 *
 * The calls that return enum drng_result, and is_zeroized(), run under the guard of guard.h: they return DRNG_BUSY, or
 * false, where the thread is in such a call already, in this process or in the one that its handler forked from. Once a
 * self-test has failed in this process no generator takes a seed or gives bytes: DRNG_SELF_TEST_FAILED. A call that
 * fails has wiped its output.
 */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/drbg/request_entropy.h"
#include "mixing/entropy/seed.h"
#include "mixing/machine/counters.h"
#include "mixing/state/guard.h"

/* Entropy input as it is asked of a source, and its answer. */
struct drng_entropy {
    size_t min_len, max_len; /* bytes of entropy input */
    size_t nonce_len;        /* bytes of a nonce at least. A source that has no nonces gives as much more entropy input:
                                SP 800-90A Rev. 1, 8.6.7 and 9.1 */
    unsigned strength;       /* bits that the entropy input must have; as much more as above for a nonce */
    bool prediction_resistance;
    uint8_t *slot;                  /* room for min_len + nonce_len bytes; the generator wipes it */
    struct drng_bytes input, nonce; /* the answer: the input may lie in `slot` or in memory of the source */
    unsigned seedings;              /* how often the source itself was seeded, after it answered; 0: it does not say */
    void *held_seed, *held_nonce;   /* memory of the source that release() frees */
};

/* Who gives seeds to a generator whose parent is not a generator of drng's: drng_root_source, or a foreign parent. */
struct drng_entropy_source {
    /* Answers, or fails with a result of its own, which the generator's caller gets. Not cancelled meanwhile. */
    enum drng_result (*get)(void *arg, const struct drng_guard *guard, struct drng_entropy *entropy);
    /* Frees what `get` has allocated. NULL: nothing. */
    void (*release)(void *arg, struct drng_entropy *entropy);
    /* The answer's `seedings` as they are now: the generator reseeds when they have changed. NULL: it never says. */
    unsigned (*seedings)(void *arg);
};

/* Seeds of a root: its argument is the struct drng_root. */
extern const struct drng_entropy_source drng_root_source;

/* As EVP_RAND_STATE_UNINITIALISED, _READY and _ERROR. */
enum drng_generator_status { DRNG_GENERATOR_UNINSTANTIATED, DRNG_GENERATOR_READY, DRNG_GENERATOR_FAILED };

enum { DRNG_LEAST_RESEED_BYTES = 1024 };

/* What drng_generator_configure() sets. */
struct drng_generator_config {
    size_t key_len; /* 16, 24 or 32 bytes */
    bool use_df;
    struct drng_reseed_limits limits; /* of bytes: 0, or at least DRNG_LEAST_RESEED_BYTES */
};

struct drng_generator {
    /* To be set before drng_generator_init(), then constant. */
    struct drng_generator *parent; /* one of drng's own; NULL: `source` gives the seeds */
    const struct drng_entropy_source *source;
    void *source_arg;
    struct drng_bytes personalization; /* where the caller of instantiate() gives none */
    const struct drng_aes *aes;        /* for AES-256; the others pass their tests when a generator first uses them */
    const struct drng_request_words *words; /* for request mixing */
    enum drng_request_mixing mixing;
    bool hardware_words; /* a request fails for which no instruction gives a word */
    bool keeps_seed;     /* after a reseed that failed the old seed serves on, until it is due */
    struct drng_counters *counters;
    struct drng_request_counts *requests; /* counts its requests; NULL: nobody does */
    bool shares_requests;                 /* other threads count there, too */
    atomic_uint told;                     /* the owner's: of `seedings`, those that it has told of */
    struct drng_generator_config config;  /* changed by drng_generator_configure() */

    /* The generator's own. */
    struct drng_place place; /* of what is secret, or must not survive a fork */
    enum drng_locking locking;
    atomic_int status;              /* enum drng_generator_status */
    atomic_uint seedings;           /* how often it was seeded, as its children see it; never 0 */
    atomic_int_least64_t seeded_at; /* time(2) of the last seed */
    uint64_t generation;            /* fork.h: in which it was last seeded, to tell a fork from a copy */
};

/* SP 800-90A Rev. 1, Table 3, in bytes, with libcrypto's names. */
struct drng_generator_lengths {
    size_t min_entropy, max_entropy;
    size_t min_nonce, max_nonce;
    size_t max_input; /* of a personalization string or an additional input */
};

struct drng_generator_lengths drng_generator_lengths(const struct drng_generator_config *config);

/* False: no memory. The generator is uninstantiated. */
DRNG_MUST_CHECK bool drng_generator_init(struct drng_generator *generator);

/* Erases and frees the secrets. No thread may be in another call. Does nothing after an init() that failed. */
void drng_generator_cleanup(struct drng_generator *generator);

/* From now on threads may share the generator. To be called before they do; while they do, it does nothing. */
void drng_generator_enable_locking(struct drng_generator *generator);

/* What differs between `old`, which drng_generator_config() gave, and `config`. */
struct drng_change {
    struct drng_generator_config old, config;
};

/*
 * Sets what the change has: another thread may have set the rest meanwhile. Another cipher or derivation function
 * uninstantiates: the seed belongs to the old mechanism.
 */
DRNG_MUST_CHECK enum drng_result drng_generator_configure(struct drng_generator *generator,
                                                          const struct drng_change *change);

/* The configuration, also while another thread changes it, or DRNG_BUSY. A self-test that has failed is no reason. */
DRNG_MUST_CHECK enum drng_result drng_generator_config(struct drng_generator *generator,
                                                       struct drng_generator_config *config);

/*
 * In the next three calls `strength` is in bits, 0 for any: DRNG_STRENGTH_TOO_HIGH if the generator has less.
 * DRNG_INPUT_TOO_LONG: a string or an additional input has more bytes than drng_generator_lengths() allows. After
 * either the generator is as it was, but for a change that was applied first.
 */

/*
 * Applies the change first, in the same call; NULL: none. If personalization.data is NULL, the generator's own string
 * is used. DRNG_INSTANTIATED or DRNG_IN_ERROR_STATE: uninstantiate it first; nothing has changed.
 */
DRNG_MUST_CHECK enum drng_result drng_generator_instantiate(struct drng_generator *generator,
                                                            const struct drng_change *change, unsigned strength,
                                                            bool prediction_resistance,
                                                            struct drng_bytes personalization);
DRNG_MUST_CHECK enum drng_result drng_generator_uninstantiate(struct drng_generator *generator);

/*
 * Entropy of the caller's is used in addition to the source's, never instead of it; .data may be NULL. After a failure
 * the next call takes a new seed, or fails, unless the generator keeps its seed.
 */
DRNG_MUST_CHECK enum drng_result drng_generator_reseed(struct drng_generator *generator, bool prediction_resistance,
                                                       struct drng_bytes entropy, struct drng_bytes additional);

/* With what few requests come. */
struct drng_extras {
    struct drng_bytes additional;
    bool prediction_resistance;
};

/*
 * Fills out[0..len), where out may be NULL if len is 0. extras NULL: there are none. Works in requests of at most
 * DRNG_DRBG_MAX_REQUEST and the limit of bytes. A generator that has no seed, or whose seed is due for another one,
 * takes one first; if there is none, the result is that of the source, or DRNG_NO_SEED.
 */
DRNG_MUST_CHECK enum drng_result drng_generator_generate(struct drng_generator *generator, uint8_t *out, size_t len,
                                                         unsigned strength, const struct drng_extras *extras);

/* Counts one request of len bytes. `shared`: several threads do, on these counts. */
void drng_request_counts_add(struct drng_request_counts *counts, bool shared, size_t len);

/* Whether nothing secret is in its slot. False, too, where this is not known: to a handler that interrupted a call. */
bool drng_generator_is_zeroized(struct drng_generator *generator);
