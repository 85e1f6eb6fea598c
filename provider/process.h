/*
 * process.h - what all instances of the provider in one process share: the CPU and what is known of it, the state
 * of its instructions. What has happened in it is in page.h.
 */

#ifndef DRNG_PROCESS_H
#define DRNG_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mixing/aes/aes.h"
#include "mixing/entropy/noise.h"
#include "mixing/machine/eligibility.h"

struct drng_process {
    struct drng_evidence evidence; /* looked at once, when the first instance loads */
    const struct drng_aes *aes;    /* the fastest that passed its self-test; NULL: none did, and nothing is served */
    struct drng_instruction instructions[DRNG_INSTRUCTIONS];
    atomic_bool healthy; /* no self-test has failed */
};

extern struct drng_process drng_process;

/*
 * To be matched by a close for each success; false: no memory. libcrypto_version: of the one that loads the provider,
 * NULL if it does not say.
 */
bool drng_process_open(const char *libcrypto_version);
void drng_process_close(void);

/* Runs the known answers again; a failure is for good. *what names the algorithm that failed. */
bool drng_process_self_test(bool with_hmac, const char **what);

static inline bool drng_process_healthy(void)
{
    return atomic_load_explicit(&drng_process.healthy, memory_order_relaxed);
}

#endif
