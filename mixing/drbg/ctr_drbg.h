/*
 * ctr_drbg.h - CTR_DRBG with AES (SP 800-90A Rev. 1, 10.2.1), with and without derivation function.
 *
 * Knows nothing of where entropy comes from: whoever calls brings it, and asks drng_ctr_drbg_reseed_due() before
 * each request. No function here allocates; one context is used by one thread at a time.
 */

#ifndef DRNG_CTR_DRBG_H
#define DRNG_CTR_DRBG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "mixing/drbg/df.h"
#include "mixing/result.h"

enum {
    DRNG_DRBG_MAX_REQUEST = 1 << 16, /* bytes: Table 3, 2^19 bits */
    DRNG_DRBG_MAX_INPUT = INT32_MAX, /* bytes of any input with df, libcrypto's own limit */
    DRNG_REQUEST_ENTROPY_LEN = 8,    /* bytes of request mixing */
};

/* Secret. Key and V are all there is between requests: round keys are made anew in each. */
struct drng_ctr_drbg {
    const struct drng_aes *aes;
    uint8_t key_len; /* 16, 24 or 32 bytes */
    bool use_df;
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t v[DRNG_AES_BLOCK];
    uint64_t reseed_counter; /* requests since the seed, plus one */
    time_t reseed_time;      /* when the seed came */
};

/*
 * Instantiate (10.2.1.3). With df: entropy of at least key_len bytes, nonce and personalization string of up to
 * DRNG_DRBG_MAX_INPUT each and of UINT32_MAX bytes together. Without: entropy of exactly seedlen, no nonce,
 * personalization string of at most seedlen. DRNG_BAD_LENGTH outside of that: the
 * context is all zero then.
 */
DRNG_MUST_CHECK enum drng_result drng_ctr_drbg_instantiate(struct drng_ctr_drbg *drbg, const struct drng_aes *aes,
                                                           size_t key_len, bool use_df, struct drng_bytes entropy,
                                                           struct drng_bytes nonce, struct drng_bytes personalization,
                                                           time_t now);

/*
 * Reseed (10.2.1.4); lengths as in instantiate, the additional input's like the personalization string's.
 * DRNG_BAD_LENGTH leaves the context as it was; DRNG_RESEED_NEEDED: it never had a seed.
 */
DRNG_MUST_CHECK enum drng_result drng_ctr_drbg_reseed(struct drng_ctr_drbg *drbg, struct drng_bytes entropy,
                                                      struct drng_bytes additional, time_t now);

/*
 * Generate (10.2.1.5): out[0..out_len), out_len at most DRNG_DRBG_MAX_REQUEST, and a new Key and V, so what was
 * put out cannot be recovered from the state. additional: at most seedlen bytes without df. fresh: NULL, or
 * DRNG_REQUEST_ENTROPY_LEN bytes of the caller's own randomness, added to the first bytes of the additional input at
 * its full width. Without df that is additional input like any other. With df it is added after the derivation
 * function, so a request with a fresh word is not exactly 10.2.1.5.2, where all additional input goes through df: it is
 * the request whose derived additional input had those bytes changed. After a failure out is all zero. Nothing secret
 * stays on the stack or in registers.
 */
DRNG_MUST_CHECK enum drng_result drng_ctr_drbg_generate(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                                        struct drng_bytes additional, const uint8_t *fresh);

/* When a seed is to be replaced; 0 means never for either, but for the standard's own limit. */
struct drng_reseed_limits {
    unsigned requests; /* the request of this number since the seed gets a new one first */
    time_t interval;   /* seconds that one seed serves */
};

/* Table 3: the most requests between reseeds. */
#define DRNG_DRBG_MAX_REQUESTS (UINT64_C(1) << 48)

/* Whether a seed is due before the next request; a clock set back counts as a seed grown old. */
static inline bool drng_ctr_drbg_reseed_due(const struct drng_ctr_drbg *drbg, const struct drng_reseed_limits *limits,
                                            time_t now)
{
    const bool worn = limits->requests != 0 && drbg->reseed_counter >= limits->requests;
    const bool old = limits->interval != 0 && (now < drbg->reseed_time || now - drbg->reseed_time >= limits->interval);
    return worn || old || drbg->reseed_counter > DRNG_DRBG_MAX_REQUESTS;
}

/* Uninstantiate (9.4): sets the whole context to zero. */
void drng_ctr_drbg_uninstantiate(struct drng_ctr_drbg *drbg);

#endif
