/* SPDX-License-Identifier: Apache-2.0 */
/* self_test.h - known-answer tests, run before anything is served. */

#ifndef DRNG_SELF_TEST_H
#define DRNG_SELF_TEST_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mixing/aes/aes.h"
#include "mixing/result.h"

/*
 * Tests this implementation: AES (FIPS 197, SP 800-38A, and long runs against single blocks), CBC-MAC, and CTR_DRBG.
 * CTR_DRBG is tested for each key size, with and without df: known answers (CAVP) of instantiate, reseed and generate,
 * the inputs that these refuse, and that uninstantiate leaves zeros. The loop that conditions RDRAND (drng_fused_mac())
 * runs the same AES and MAC, and is compared with these by the unit tests alone. `whole` adds HMAC-SHA-256 (RFC 4231),
 * and a negative twin of each known answer, with a wrong bit in its input, which must give another answer.
 * DRNG_SELF_TEST_FAILED: *what is the algorithm that failed; otherwise *what is NULL. Takes some microseconds with
 * AES-NI.
 */
DRNG_MUST_CHECK enum drng_result drng_self_test(const struct drng_aes *aes, bool whole, const char **what);

/*
 * The fastest implementation that this CPU can run and that passes the tests. One that fails, in an emulator for
 * example, is skipped and counted. NULL: none passes, and *what is the algorithm that failed.
 */
const struct drng_aes *drng_self_test_choose(const struct drng_cpu *cpu, const char **what);

/* Of the implementations that drng_self_test_choose() skipped: how many, and the fastest one's name, or "". */
struct drng_self_tests_failed {
    unsigned count;
    const char *fastest;
};
extern struct drng_self_tests_failed drng_self_tests_failed;

/* The algorithm that has failed a test in this process; NULL: none has. Generators that see one serve nothing. */
extern _Atomic(const char *) drng_failed_algorithm;

#endif
