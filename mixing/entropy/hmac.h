/* hmac.h - HMAC-SHA-256 (FIPS 198-1). */

#ifndef DRNG_HMAC_H
#define DRNG_HMAC_H

#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/sha256.h"

enum { DRNG_HMAC_LEN = DRNG_SHA256_LEN };

/*
 * Secret. Holds a state derived from the key, not the key. The functions leave secrets on the stack; the caller wipes
 * it.
 */
struct drng_hmac {
    struct drng_sha256 inner;
    struct drng_sha256 outer;
};

void drng_hmac_begin(struct drng_hmac *hmac, const uint8_t *key, size_t key_len);
void drng_hmac_update(struct drng_hmac *hmac, const void *data, size_t len);

/* Writes the MAC and wipes `hmac`. */
void drng_hmac_end(struct drng_hmac *hmac, uint8_t digest[DRNG_HMAC_LEN]);

#endif
