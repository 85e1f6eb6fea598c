/* SPDX-License-Identifier: Apache-2.0 */
/* hmac.h - HMAC-SHA-256 (FIPS 198-1), and its hash (FIPS 180-4) of a message in pieces of any length. */

#pragma once

#include <stddef.h>
#include <stdint.h>

enum { DRNG_SHA256_BLOCK = 64, DRNG_SHA256_LEN = 32 };

/*
 * The state of one message; secret if the message is. The functions leave it on the stack, too; the caller wipes that.
 */
struct drng_sha256 {
    uint32_t hash[8];
    uint64_t len;                     /* of the message so far, in bytes */
    uint8_t block[DRNG_SHA256_BLOCK]; /* the bytes that do not fill a block yet */
};

void drng_sha256_begin(struct drng_sha256 *sha);
void drng_sha256_update(struct drng_sha256 *sha, const void *data, size_t len);

/* Writes the digest and wipes `sha`. */
void drng_sha256_end(struct drng_sha256 *sha, uint8_t digest[DRNG_SHA256_LEN]);

enum { DRNG_HMAC_LEN = DRNG_SHA256_LEN };

/* As secret as struct drng_sha256. Holds a state derived from the key, not the key. */
struct drng_hmac {
    struct drng_sha256 inner;
    struct drng_sha256 outer;
};

/* The key has at most DRNG_SHA256_BLOCK bytes: step 2, for longer ones, is left out. */
void drng_hmac_begin(struct drng_hmac *hmac, const uint8_t *key, size_t key_len);
void drng_hmac_update(struct drng_hmac *hmac, const void *data, size_t len);

/* Writes the MAC and wipes `hmac`. */
void drng_hmac_end(struct drng_hmac *hmac, uint8_t digest[DRNG_HMAC_LEN]);
