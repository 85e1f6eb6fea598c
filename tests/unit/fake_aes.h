/* SPDX-License-Identifier: Apache-2.0 */
/* fake_aes.h - AES in plain C, but one call of it answers wrong. */

#ifndef DRNG_FAKE_AES_H
#define DRNG_FAKE_AES_H

#include <stdbool.h>
#include <stddef.h>

#include "mixing/aes/aes.h"

/* Which call goes wrong, counted from 1; 0: none. */
struct fake_aes_script {
    unsigned calls;    /* calls of both functions so far */
    unsigned flips_at; /* one bit of every result is wrong: out, tail, chain */
    bool flips_last;   /* in the last byte of each, not in the first */
    size_t spare_192;  /* bytes at the end of each result that a caller with a key of 24 bytes does not use */

    /* Every call of this function with this key length has one wrong bit. */
    size_t ctr_flips_key_len;
    size_t cbc_flips_key_len;
};

/* To be assigned as a whole before each use, which also resets the count of calls. */
extern struct fake_aes_script fake_aes_script;

extern const struct drng_aes fake_aes;

#endif
