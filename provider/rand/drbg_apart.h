/* drbg_apart.h - serves a signal handler that asks a CTR-DRBG in the middle of another request. */

#ifndef DRNG_DRBG_APART_H
#define DRNG_DRBG_APART_H

#include "provider/rand/drbg_object.h"

/*
 * Serves the request from a generator on the stack that lives for this request only, and is seeded from the provider's
 * own source. False: an error is in the queue, and out is wiped.
 */
bool drng_drbg_generate_apart(const struct drng_drbg *drbg, uint8_t *out, size_t out_len, struct drng_bytes additional);

#endif
