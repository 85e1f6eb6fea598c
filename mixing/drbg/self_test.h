/* self_test.h - known answers, run before anything is served. */

#ifndef DRNG_SELF_TEST_H
#define DRNG_SELF_TEST_H

#include <stdbool.h>

#include "mixing/aes/aes.h"
#include "mixing/result.h"

/*
 * With this implementation: AES (FIPS 197, SP 800-38A, and long runs against short ones), CBC-MAC and CTR_DRBG; of the
 * last, for each size of key, with and without df, known answers (CAVP) of instantiate, reseed and generate, what these
 * refuse, and that uninstantiate leaves zeros. with_hmac adds HMAC-SHA-256 (RFC 4231). DRNG_SELF_TEST_FAILED: *what
 * names the algorithm; else *what is NULL. Takes some microseconds with AES-NI.
 */
DRNG_MUST_CHECK enum drng_result drng_self_test(const struct drng_aes *aes, bool with_hmac, const char **what);

/*
 * The fastest implementation on this CPU whose answers are right. A wide one that is wrong, in an emulator say, gives
 * way to the next; NULL, and *what names an algorithm, where none is right.
 */
const struct drng_aes *drng_self_test_choose(const struct drng_cpu *cpu, const char **what);

#endif
