/* hmac.h - HMAC-SHA-256 (FIPS 198-1) from libcrypto's private context. */

#ifndef DRNG_HMAC_H
#define DRNG_HMAC_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/types.h>

#include "mixing/result.h"

enum { DRNG_HMAC_LEN = 32 };

/* All fail with DRNG_LIBCRYPTO_FAILED. *ctx is for EVP_MAC_CTX_free() to end; NULL after a failed begin. */
DRNG_MUST_CHECK enum drng_result drng_hmac_begin(EVP_MAC_CTX **ctx, const uint8_t *key, size_t key_len);
DRNG_MUST_CHECK enum drng_result drng_hmac_update(EVP_MAC_CTX *ctx, const void *data, size_t len);

/* digest is all zero after a failure. */
DRNG_MUST_CHECK enum drng_result drng_hmac_end(EVP_MAC_CTX *ctx, uint8_t digest[DRNG_HMAC_LEN]);

#endif
