/* df.h - the derivation function of CTR_DRBG (SP 800-90A Rev. 1, 10.3.2 and 10.3.3). */

#ifndef DRNG_DF_H
#define DRNG_DF_H

#include "mixing/ctr_drbg.h"

/*
 * Block_Cipher_df: fills out[0..seedlen of key_len) from the `count` inputs, one after the other; together at
 * most UINT32_MAX bytes. Fails only with AES; out is all zero then.
 */
DRNG_MUST_CHECK enum drng_status drng_block_cipher_df(const struct drng_aes *aes, size_t key_len,
                                                      uint8_t out[DRNG_DRBG_MAX_SEEDLEN],
                                                      const struct drng_bytes *inputs, size_t count);

#endif
