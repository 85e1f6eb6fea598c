/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the state that all instances of the provider in one process share: the CPU, what is known about it, and
 * its instructions. stats.h counts what has happened.
 */

#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "mixing/drbg/open.h"
#include "mixing/drbg/self_test.h"

struct drng_process {
    struct drng_machine machine; /* opened once, when the first instance loads */
    atomic_bool exits;           /* exit() has begun: other threads run on until it ends the process */
};

extern struct drng_process drng_process;

/*
 * Each success needs a close. False: no memory. The thread must not be cancelled meanwhile, since this holds a lock.
 * libcrypto_version is that of the libcrypto that loads the provider, NULL if it does not say.
 */
bool drng_process_open(const char *libcrypto_version);
void drng_process_close(void);

/*
 * Runs the known-answer tests again, all of them and their twins. After a failure the process stays unhealthy, and
 * *what is the algorithm that failed.
 */
bool drng_process_self_test(const char **what);

/* No self-test has failed in this process. */
static inline bool drng_process_healthy(void)
{
    return atomic_load_explicit(&drng_failed_algorithm, memory_order_relaxed) == NULL;
}
