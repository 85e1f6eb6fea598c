/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - opens what all generators of a process stand on, for the provider and for libdrng. */

#ifndef DRNG_OPEN_H
#define DRNG_OPEN_H

#include <stdbool.h>

#include "mixing/aes/aes.h"
#include "mixing/entropy/noise.h"
#include "mixing/machine/eligibility.h"

/* Takes away what the user has masked. */
typedef void drng_machine_mask(struct drng_evidence *evidence, const char *libcrypto_version);

/*
 * Opens memory for secrets, and looks at the CPU and at the kernel's verdict. `mask` takes away what the user has
 * masked; NULL: nothing. Each instruction gets its row. *aes becomes the fastest implementation that passes its
 * self-test, NULL if none does; *failed is the algorithm that failed, or NULL. False: no memory. To be called under
 * DRNG_LOCK_LOAD.
 */
bool drng_open_machine(struct drng_evidence *evidence, drng_machine_mask *mask, const char *libcrypto_version,
                       struct drng_instruction instructions[DRNG_INSTRUCTIONS], const struct drng_aes **aes,
                       const char **failed);

#endif
