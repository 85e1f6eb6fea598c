/* SPDX-License-Identifier: Apache-2.0 */
/* self_test.h - known-answer tests, run before anything is served. */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "mixing/aes/aes.h"
#include "mixing/result.h"

/*
 * Tests this implementation with keys of key_len bytes: AES (FIPS 197), requests of CTR_DRBG whose lengths reach each
 * part of each kernel, known answers (CAVP) of instantiate, reseed and generate with and without df, the inputs that
 * these refuse, and that uninstantiate leaves zeros; and CBC-MAC (SP 800-38A), whose key always has 16 bytes. `whole`
 * adds HMAC-SHA-256 (RFC 4231), and a negative twin of each known answer, with a wrong bit in its input, which must
 * give another answer. DRNG_SELF_TEST_FAILED: *what is the algorithm that failed; otherwise *what is NULL. Takes some
 * microseconds with AES-NI.
 */
DRNG_MUST_CHECK enum drng_result drng_self_test(const struct drng_aes *aes, size_t key_len, bool whole,
                                                const char **what);

/*
 * The fastest implementation that this CPU can run and that passes the tests with AES-256. One that fails, in an
 * emulator for example, is skipped and counted. NULL: none passes, and *what is the algorithm that failed. To be called
 * under DRNG_LOCK_LOAD.
 */
const struct drng_aes *drng_self_test_choose(const struct drng_cpu *cpu, const char **what);

/*
 * The same for another key size, tested when it is first asked for: hardly a program uses one. An implementation that
 * has failed with any size is skipped for a size that is asked for later. NULL: none passes, and drng_failed_algorithm
 * says so.
 */
const struct drng_aes *drng_self_test_aes(size_t key_len);

/* Of the implementations that failed so far: how many, and the fastest one's name, or "". */
unsigned drng_self_test_failed_count(void);
const char *drng_self_test_failed_name(void);

/* The algorithm that has failed a test in this process; NULL: none has. Generators that see one serve nothing. */
extern _Atomic(const char *) drng_failed_algorithm;
