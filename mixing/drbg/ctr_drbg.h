/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctr_drbg.h - CTR_DRBG with AES (SP 800-90A Rev. 1, 10.2.1), with and without derivation function.
 *
 * The caller brings the entropy, and asks drng_ctr_drbg_reseed_due() before each request. No function here allocates
 * memory. A context is used by one thread at a time.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "mixing/drbg/df.h"
#include "mixing/result.h"

enum {
    DRNG_DRBG_MAX_REQUEST = 1 << 16, /* bytes: Table 3, 2^19 bits */
    DRNG_DRBG_MAX_INPUT = INT32_MAX, /* bytes of each input with df; libcrypto has the same limit */
    DRNG_REQUEST_ENTROPY_LEN = 8,    /* bytes of request mixing */
};

/*
 * 16 bytes, at any address, as one value. Key and V are always written and read so: store-to-load forwarding needs
 * equal address and width, and a load that differs from the store before it waits until that store has reached the
 * cache.
 */
typedef uint64_t drng_block __attribute__((vector_size(16), aligned(1), may_alias));

/* Secret. Between requests only Key and V are kept: round keys are computed anew in each request. */
struct drng_ctr_drbg {
    _Alignas(16) uint8_t key[DRNG_AES_MAX_KEY]; /* aligned, so that no block of them lies on two cache lines */
    uint8_t v[DRNG_AES_BLOCK];
    uint64_t generated; /* bytes since the last seed. Beside reseed_counter GCC would leave both in a vector register */
    const struct drng_aes *aes;
    uint8_t key_len; /* 16, 24 or 32 bytes */
    bool use_df;
    uint64_t reseed_counter; /* SP 800-90A's: requests since the last seed, plus one */
    time_t reseed_time;      /* when the last seed was taken */
};

/*
 * Instantiate (10.2.1.3).
 *
 * With df: entropy of at least key_len bytes; nonce and personalization string of at most DRNG_DRBG_MAX_INPUT bytes
 * each; all three together of at most UINT32_MAX bytes. Without df: entropy of exactly seedlen bytes, no nonce, a
 * personalization string of at most seedlen bytes. For other lengths the result is DRNG_BAD_LENGTH, and the context is
 * all zero.
 */
DRNG_MUST_CHECK enum drng_result drng_ctr_drbg_instantiate(struct drng_ctr_drbg *drbg, const struct drng_aes *aes,
                                                           size_t key_len, bool use_df, struct drng_bytes entropy,
                                                           struct drng_bytes nonce, struct drng_bytes personalization,
                                                           time_t now);

/*
 * Reseed (10.2.1.4). Lengths as for Instantiate, where the additional input takes the place of the personalization
 * string. DRNG_BAD_LENGTH leaves the context unchanged. DRNG_RESEED_NEEDED: the context has no seed.
 */
DRNG_MUST_CHECK enum drng_result drng_ctr_drbg_reseed(struct drng_ctr_drbg *drbg, struct drng_bytes entropy,
                                                      struct drng_bytes additional, time_t now);

/* Table 3: the most requests between two reseeds. */
#define DRNG_DRBG_MAX_REQUESTS (UINT64_C(1) << 48)

/*
 * Generate (10.2.1.5). Fills out[0..out_len), out_len at most DRNG_DRBG_MAX_REQUEST, and replaces Key and V, so that
 * this output cannot be recovered from the state. Without df the additional input has at most seedlen bytes.
 *
 * fresh is NULL, or DRNG_REQUEST_ENTROPY_LEN bytes of the caller's own randomness, which are XORed to the first bytes
 * of the additional input after it has been brought to seedlen. Without df this is additional input as the standard has
 * it. With df it is not exactly 10.2.1.5.2, where all additional input goes through df: the request is the one of an
 * additional input whose derived bytes differ by fresh.
 *
 * On failure out is all zero. Nothing secret stays on the stack or in registers.
 */
DRNG_MUST_CHECK enum drng_result drng_ctr_drbg_generate_any(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                                            struct drng_bytes additional, const uint8_t *fresh);

/*
 * The same, in its callers where AES makes the request at once. What a fork may wipe is read once, the key's length
 * first: where an AES is read behind it, the length was valid, too.
 */
DRNG_MUST_CHECK static inline enum drng_result drng_ctr_drbg_generate(struct drng_ctr_drbg *drbg, uint8_t *out,
                                                                      size_t out_len, struct drng_bytes additional,
                                                                      const uint8_t *fresh)
{
    const size_t key_len = *(const volatile uint8_t *)&drbg->key_len;
    const struct drng_aes *aes = *(const struct drng_aes *const volatile *)&drbg->aes;
    if (aes == NULL || additional.len > 0 || out_len - 1 >= aes->short_len ||
        drbg->reseed_counter - 1 >= DRNG_DRBG_MAX_REQUESTS) {
        return drng_ctr_drbg_generate_any(drbg, out, out_len, additional, fresh);
    }
    aes->request(drbg->key, key_len, drbg->v, out, out_len, fresh);
    drbg->reseed_counter++;
    drbg->generated += out_len;
    return DRNG_OK;
}

/* When a reseed is due. 0 disables a limit; the standard's own limit always holds. */
struct drng_reseed_limits {
    unsigned requests; /* reseed before the request of this number since the last seed */
    time_t interval;   /* seconds that a seed serves */
    uint64_t bytes;    /* the most that are generated from one seed */
};

/*
 * Whether a seed is due before a request of out_len bytes, the first one, too. Numbers have no sign here: one less than
 * a limit of 0 is more than anything, and so are the age if the clock was set back, and what no seed has served.
 */
static inline bool drng_ctr_drbg_reseed_due(const struct drng_ctr_drbg *drbg, const struct drng_reseed_limits *limits,
                                            size_t out_len, time_t now)
{
    const uint64_t most = (uint64_t)limits->requests - 1;
    const bool worn = drbg->reseed_counter - 1 >= (most < DRNG_DRBG_MAX_REQUESTS ? most : DRNG_DRBG_MAX_REQUESTS);
    const bool old = (uint64_t)now - (uint64_t)drbg->reseed_time > (uint64_t)limits->interval - 1;
    const bool full = limits->bytes != 0 && drbg->generated + out_len > limits->bytes;
    return worn || old || full;
}

/* Uninstantiate (9.4): sets the whole context to zero. */
void drng_ctr_drbg_uninstantiate(struct drng_ctr_drbg *drbg);
