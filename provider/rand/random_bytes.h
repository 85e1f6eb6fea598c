/*
 * random_bytes.h - OpenSSL 3.5's way past EVP_RAND: RAND_bytes() straight to the provider (provider-base(7)).
 *
 * Each thread has a public and a private CTR-DRBG under a primary of the provider's own, as libcrypto has them.
 */

#ifndef DRNG_RANDOM_BYTES_H
#define DRNG_RANDOM_BYTES_H

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

struct drng_core;
struct drng_provctx;
struct drng_threads;

/* What one instance of the provider keeps for its threads, in memory of its core, which must outlive it; NULL: no
 * memory. */
struct drng_threads *drng_threads_new(const struct drng_core *core);

/* Frees the generators of all threads, dead and alive. No thread may be in drng_random_bytes(). */
void drng_threads_free(struct drng_threads *threads);

/* 1, or 0 with the error in the queue and nothing in the buffer. strength in bits. */
int drng_random_bytes(void *provctx, int which, void *buffer, size_t len, unsigned strength);

#endif
