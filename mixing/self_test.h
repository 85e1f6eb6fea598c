/* self_test.h - known answers, run before anything is served. */

#ifndef DRNG_SELF_TEST_H
#define DRNG_SELF_TEST_H

#include <stdbool.h>

#include "mixing/aes.h"
#include "mixing/status.h"

/*
 * AES (FIPS 197, SP 800-38A), CBC-MAC and CTR_DRBG (CAVP) with this implementation, every key size; with_hmac
 * adds HMAC-SHA-256 (RFC 4231), which brings libcrypto's private context up. DRNG_SELF_TEST_FAILED: *what names
 * the algorithm. Takes some microseconds without HMAC.
 */
DRNG_MUST_CHECK enum drng_status drng_self_test(const struct drng_aes *aes, bool with_hmac, const char **what);

#endif
