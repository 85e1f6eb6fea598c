/* fake_aes.h - AES in plain C, but one call of it answers wrong. */

#ifndef DRNG_FAKE_AES_H
#define DRNG_FAKE_AES_H

#include <stdbool.h>
#include <stddef.h>

#include "mixing/aes/aes.h"

/* Which call, counted from 1, goes wrong; 0: none. */
struct fake_aes_script {
    unsigned calls;    /* made so far, of both slots */
    unsigned flips_at; /* one bit of every result is wrong: out, tail, chain */
    bool flips_last;   /* in the last byte of each, not in the first */
    size_t spare_192;  /* bytes at the end of each with a key of 24 bytes that its caller has no use for */

    /* Every call of this slot with this key size answers with one bit wrong. */
    size_t ctr_flips_key_len;
    size_t cbc_flips_key_len;
};

/* Set as a whole before each use; that sets the count back too. */
extern struct fake_aes_script fake_aes_script;

extern const struct drng_aes fake_aes;

#endif
