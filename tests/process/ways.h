/* SPDX-License-Identifier: Apache-2.0 */
/* ways.h - every way in which a program can draw from the provider, in one library context. */

#ifndef TEST_WAYS_H
#define TEST_WAYS_H

#include <stdbool.h>

#include <openssl/crypto.h>

/*
 * Makes all generators and uses each once, so that a child inherits them seeded. False, with errors printed: one
 * failed.
 */
bool ways_open(OSSL_LIB_CTX *libctx);
void ways_close(void);

/*
 * Draws from each way `times` times into the pool: libcrypto's public, private and primary generator, a CTR-DRBG
 * without a parent, one without derivation function at the end of a chain, the seed source, and RDRAND where it may be
 * used. False: one failed.
 */
bool ways_draw(unsigned times);

/* How many ways there are. */
unsigned ways_count(void);

#endif
