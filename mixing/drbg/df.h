/* SPDX-License-Identifier: Apache-2.0 */
/* df.h - Block_Cipher_df, the derivation function of CTR_DRBG (SP 800-90A Rev. 1, 10.3.2 and 10.3.3). */

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mixing/aes/aes.h"

enum { DRNG_DRBG_MAX_SEEDLEN = DRNG_AES_MAX_KEY + DRNG_AES_BLOCK };

/* SP 800-90A Rev. 1, Table 3, of a key of so many bytes: seedlen in bytes, and the security strength in bits. */
#define DRNG_DRBG_SEEDLEN(key_len)  ((size_t)(key_len) + DRNG_AES_BLOCK)
#define DRNG_DRBG_STRENGTH(key_len) ((unsigned)(8 * (key_len)))

/* A piece of input; data may be NULL if len is 0. */
struct drng_bytes {
    const uint8_t *data;
    size_t len;
};

/*
 * Block_Cipher_df: fills out[0..seedlen of key_len) from the `count` inputs, concatenated. Their total length is at
 * most UINT32_MAX bytes.
 */
void drng_block_cipher_df(const struct drng_aes *aes, size_t key_len, uint8_t out[DRNG_DRBG_MAX_SEEDLEN],
                          const struct drng_bytes *inputs, size_t count);
