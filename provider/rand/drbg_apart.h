/* drbg_apart.h - a request that a signal handler makes of a CTR-DRBG in the middle of another one. */

#ifndef DRNG_DRBG_APART_H
#define DRNG_DRBG_APART_H

#include "provider/rand/drbg_object.h"

/*
 * Serves it from a generator that lives for this request on the stack, seeded from the provider's own source. False:
 * the error is in the queue, and out is wiped.
 */
bool drng_drbg_generate_apart(const struct drng_drbg *drbg, uint8_t *out, size_t out_len, struct drng_bytes additional);

#endif
