/* provctx.h - one instance of the provider: its configuration and its own seed source. */

#ifndef DRNG_PROVCTX_H
#define DRNG_PROVCTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/drbg/request_entropy.h"
#include "mixing/entropy/seed.h"
#include "mixing/entropy/shared_reader.h"
#include "mixing/machine/clone.h"
#include "mixing/machine/eligibility.h"
#include "provider/config.h"
#include "provider/core.h"
#include "provider/observe/stats.h"

/* When a request takes in a fresh word (request_entropy.h). */
enum drng_request_mixing {
    DRNG_MIX_NEVER,
    DRNG_MIX_UNWATCHED, /* while no clone device is watched (clone.h) */
    DRNG_MIX_ALWAYS,
};

/* Whether a request takes in a word now. */
static inline bool drng_mixes_now(enum drng_request_mixing mixing)
{
    return mixing == DRNG_MIX_ALWAYS || (mixing == DRNG_MIX_UNWATCHED && !drng_clone_is_watched());
}

/* Constant once OSSL_provider_init() has returned, except the last three members. */
struct drng_provctx {
    struct drng_core core;
    struct drng_config config;
    struct drng_eligibility eligibility;
    struct drng_seed_policy policy;
    struct drng_request_words words;
    enum drng_request_mixing mixing;
    struct drng_shared_reader root; /* seeds the generators that have no parent */
    struct drng_threads *threads;   /* the generators behind OSSL_FUNC_provider_random_bytes() */
    uint64_t threads_id;            /* theirs */
    uint64_t forks_before;          /* forks of this process's ancestors before this instance loaded */
    atomic_uint has_asked;          /* this instance has taken a seed; no bool: not every RISC-V can exchange a byte */
    char disabled_reason[DRNG_TEXT_SIZE];
};

/* NULL, with an error in the queue: a wrong configuration, no memory, or a failed self-test. */
struct drng_provctx *drng_provctx_new(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in);
void drng_provctx_free(struct drng_provctx *provctx);

#endif
