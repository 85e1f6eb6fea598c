#include "mixing/entropy/hmac.h"

#include <string.h>

enum { IPAD = 0x36, OPAD = 0x5c };

/* Starts a hash with K0 XOR pad. */
static void begin_with(struct drng_sha256 *sha, const uint8_t k0[DRNG_SHA256_BLOCK], uint8_t pad)
{
    uint8_t block[DRNG_SHA256_BLOCK];
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = k0[i] ^ pad;
    }
    drng_sha256_begin(sha);
    drng_sha256_update(sha, block, sizeof(block));
}

/* FIPS 198-1, section 4, steps 1 to 5, 7 and 8. */
void drng_hmac_begin(struct drng_hmac *hmac, const uint8_t *key, size_t key_len)
{
    uint8_t k0[DRNG_SHA256_BLOCK] = {0};
    if (key_len <= sizeof(k0)) {
        memcpy(k0, key, key_len);
    } else {
        drng_sha256_begin(&hmac->inner);
        drng_sha256_update(&hmac->inner, key, key_len);
        drng_sha256_end(&hmac->inner, k0);
    }
    begin_with(&hmac->inner, k0, IPAD);
    begin_with(&hmac->outer, k0, OPAD);
}

void drng_hmac_update(struct drng_hmac *hmac, const void *data, size_t len)
{
    drng_sha256_update(&hmac->inner, data, len);
}

/* Steps 6 and 9. */
void drng_hmac_end(struct drng_hmac *hmac, uint8_t digest[DRNG_HMAC_LEN])
{
    drng_sha256_end(&hmac->inner, digest);
    drng_sha256_update(&hmac->outer, digest, DRNG_HMAC_LEN);
    drng_sha256_end(&hmac->outer, digest);
}
