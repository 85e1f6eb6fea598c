/* sha256.h - SHA-256 (FIPS 180-4) of a message in pieces of any length; for hmac.h. */

#ifndef DRNG_SHA256_H
#define DRNG_SHA256_H

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

#endif
