/* SPDX-License-Identifier: Apache-2.0 */
/* provctx.h - one instance of the provider: its configuration and its own seed source. */

#pragma once

#include <stdatomic.h>

#include "mixing/drbg/generator.h"
#include "mixing/entropy/seed.h"
#include "mixing/machine/eligibility.h"
#include "provider/config.h"
#include "provider/core.h"
#include "provider/observe/stats.h"

/* Constant once OSSL_provider_init() has returned, except the last members, from `seeds` on. */
struct drng_provctx {
    struct drng_root root; /* seeds the generators without a parent; first, so that a leak checker finds all of this */
    struct drng_core core;
    struct drng_config config;
    struct drng_eligibility eligibility;
    struct drng_seed_policy policy;
    struct drng_seed_policy words_policy; /* of the seeds that the algorithm RDRAND gives */
    struct drng_request_words words;
    enum drng_request_mixing mixing;
    struct drng_place seeds;             /* the place of `root` */
    struct drng_pairs *pairs;            /* the generators behind OSSL_FUNC_provider_random_bytes() */
    atomic_uint foreign;                 /* living generators whose parent is another provider's */
    const char *_Atomic disabled_reason; /* the text that is true now */
    /* One for each set of disabled instructions, a bit each. None is ever enabled again, so each is written once. */
    char disabled_reasons[1 << DRNG_INSTRUCTIONS][DRNG_TEXT_SIZE];
};

/* NULL, with an error in the queue: a wrong configuration, no memory, or a failed self-test. */
struct drng_provctx *drng_provctx_new(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in);
void drng_provctx_free(struct drng_provctx *provctx);
