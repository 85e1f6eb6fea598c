/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_bytes.h - OSSL_FUNC_provider_random_bytes() of OpenSSL 3.5: RAND_bytes() calls the provider directly, without
 * EVP_RAND (provider-base(7)).
 *
 * A thread draws from a public and a private CTR-DRBG, which it may share with others; all of them have one primary as
 * their parent.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>

/* OpenSSL 3.5's, for older headers. */
#ifndef OSSL_FUNC_PROVIDER_RANDOM_BYTES
#define OSSL_FUNC_PROVIDER_RANDOM_BYTES 1032
#endif
#ifndef OSSL_PROV_RANDOM_PUBLIC
#define OSSL_PROV_RANDOM_PUBLIC  0
#define OSSL_PROV_RANDOM_PRIVATE 1
#endif

struct drng_provctx;

/* Makes provctx->pairs. False, with an error in the queue: no memory. */
bool drng_pairs_open(struct drng_provctx *provctx);

/*
 * Frees all generators. No thread may be in drng_random_bytes(). False: this thread is in a draw, which a handler
 * interrupted or left. Then all stays.
 */
bool drng_pairs_close(struct drng_provctx *provctx);

/* Leaves all to the kernel, where a leak checker finds it: in memory that is not the core's. */
void drng_pairs_leave(struct drng_provctx *provctx);

/* 1; or 0 with an error in the queue and the buffer wiped. strength in bits. */
int drng_random_bytes(void *provctx, int which, void *buffer, size_t len, unsigned strength);
