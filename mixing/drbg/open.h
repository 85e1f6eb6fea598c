/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - opens what all generators of a process stand on, for the provider and for libdrng. */

#pragma once

#include <stdbool.h>

#include "mixing/aes/aes.h"
#include "mixing/entropy/noise.h"
#include "mixing/machine/eligibility.h"

typedef void drng_machine_mask(struct drng_evidence *evidence, const char *libcrypto_version);

/* Constant once it is open, but for what instructions come to. */
struct drng_machine {
    struct drng_evidence evidence; /* the CPU, the kernel's verdict, and what is masked */
    const struct drng_aes *aes;    /* the fastest that passes its self-test; NULL: none does, and nothing is served */
    const char *failed;            /* the algorithm that failed a test, or NULL */
    struct drng_instruction instructions[DRNG_INSTRUCTIONS];
};

/*
 * Opens memory for secrets, and looks at the machine; each instruction gets its row. `mask` takes away what the user
 * has masked; NULL: nothing. False: no memory. To be called under DRNG_LOCK_LOAD.
 */
bool drng_machine_open(struct drng_machine *machine, drng_machine_mask *mask, const char *libcrypto_version);
