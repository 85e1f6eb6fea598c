/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - CTR_DRBG written for comparison: one block of AES in each call, one step of SP 800-90A Rev. 1 in each
 * statement.
 *
 * Shares no code with mixing/: its AES is libcrypto's, one block at a time. Calls that must not fail assert.
 */

#ifndef DRNG_REFERENCE_H
#define DRNG_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/drbg/ctr_drbg.h"

/* Block_Encrypt. out may be in. */
void reference_encrypt(const uint8_t *key, size_t key_len, const uint8_t in[16], uint8_t out[16]);

/* V = (V + 1) mod 2^128. */
void reference_increment(uint8_t v[16]);

/* `blocks` times: V = V + 1, and its encryption to out. */
void reference_keystream(const uint8_t *key, size_t key_len, uint8_t v[16], uint8_t *out, size_t blocks);

/*
 * Sets the lowest `bits` bits of v, a multiple of 8, to the number that is `before` less than all ones; the other bits
 * stay. So the block number before + 1 carries out of these bits.
 */
void reference_before_carry(uint8_t v[16], unsigned bits, unsigned before);

enum { REFERENCE_DF_MAX = 4096 }; /* bytes of all inputs together */

/* Block_Cipher_df (10.3.2), to seedlen bytes. */
void reference_df(size_t key_len, uint8_t *out, const struct drng_bytes *inputs, size_t count);

struct reference_drbg {
    size_t key_len;
    bool use_df;
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t v[16];
    uint64_t reseed_counter;
};

void reference_instantiate(struct reference_drbg *drbg, size_t key_len, bool use_df, struct drng_bytes entropy,
                           struct drng_bytes nonce, struct drng_bytes personalization);
void reference_reseed(struct reference_drbg *drbg, struct drng_bytes entropy, struct drng_bytes additional);

/* fresh is NULL, or the bytes that ctr_drbg.h says are added to the additional input. */
void reference_generate(struct reference_drbg *drbg, uint8_t *out, size_t out_len, struct drng_bytes additional,
                        const uint8_t *fresh);

/* Whether a DRBG of mixing/ is in the same state. */
bool reference_matches(const struct reference_drbg *reference, const struct drng_ctr_drbg *drbg);

#endif
