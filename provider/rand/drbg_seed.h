/* drbg_seed.h - seeds a CTR-DRBG: from its parent, or from the provider's own source if it has none. */

#ifndef DRNG_DRBG_SEED_H
#define DRNG_DRBG_SEED_H

#include "provider/rand/drbg_object.h"

/* Lengths of SP 800-90A Rev. 1, Table 3, in bytes, with libcrypto's names. */
struct drng_drbg_lengths {
    size_t min_entropy;
    size_t max_entropy;
    size_t min_nonce;
    size_t max_nonce;
    size_t max_input; /* of a personalization string or an additional input */
};

struct drng_drbg_lengths drng_drbg_lengths_of(const struct drng_drbg *drbg);

/* The entropy input of an instantiation without a nonce: half as long again (SP 800-90A Rev. 1, 8.6.7). */
size_t drng_drbg_first_entropy_len(const struct drng_drbg *drbg);

/* libcrypto's default personalization string. Its NUL belongs to it. */
extern const unsigned char drng_default_personalization[29];

/* Instantiate and reseed. On success the state is READY; on failure it is ERROR, and an error is in the queue. */
bool drng_drbg_seed_first(struct drng_drbg *drbg, bool prediction_resistance, struct drng_bytes personalization);
bool drng_drbg_seed_again(struct drng_drbg *drbg, bool prediction_resistance, struct drng_bytes entropy,
                          struct drng_bytes additional);

/* Sets the secrets to zero and the state to UNINITIALISED. */
void drng_drbg_forget(struct drng_drbg *drbg);

#endif
