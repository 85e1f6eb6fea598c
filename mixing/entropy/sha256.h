/* sha256.h - SHA-256 (FIPS 180-4), in pieces of any length; for hmac.h. */

#ifndef DRNG_SHA256_H
#define DRNG_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { DRNG_SHA256_BLOCK = 64, DRNG_SHA256_LEN = 32 };

/* A message under way; secret if the message is. What all of these leave on the stack is their caller's to wipe. */
struct drng_sha256 {
    uint32_t hash[8];
    uint64_t len;                     /* bytes so far */
    uint8_t block[DRNG_SHA256_BLOCK]; /* those that do not fill a block yet; whole ones are taken from where they are */
};

void drng_sha256_begin(struct drng_sha256 *sha);
void drng_sha256_update(struct drng_sha256 *sha, const void *data, size_t len);

/* Wipes `sha`. */
void drng_sha256_end(struct drng_sha256 *sha, uint8_t digest[DRNG_SHA256_LEN]);

#endif
