/* SPDX-License-Identifier: Apache-2.0 */
/* aes_wide.h - tests a file for VAES on a CPU without it: its AES rounds are done lane by lane. */

#ifndef DRNG_AES_WIDE_H
#define DRNG_AES_WIDE_H

#include "mixing/aes/aes.h"

struct aes_wide {
    const struct drng_aes *aes;
    unsigned blocks;             /* blocks in one register */
    unsigned least;              /* blocks of output of the shortest run that goes through these registers */
    const unsigned long *rounds; /* counts the rounds of all registers, except the last rounds */
};

/* Runs all of aes_cases.h, and checks when the wide registers are used. main() returns the result. */
int aes_wide_run(const struct aes_wide *wide);

#endif
