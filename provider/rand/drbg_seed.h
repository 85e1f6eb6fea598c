/* drbg_seed.h - seeding a CTR-DRBG: from its parent, or from the provider's own source where it has none. */

#ifndef DRNG_DRBG_SEED_H
#define DRNG_DRBG_SEED_H

#include "provider/rand/drbg_object.h"

/* SP 800-90A Rev. 1, Table 3, in bytes; libcrypto's names for them. */
struct drng_drbg_lengths {
    size_t min_entropy;
    size_t max_entropy;
    size_t min_nonce;
    size_t max_nonce;
    size_t max_input; /* of a personalization string or an additional input */
};

struct drng_drbg_lengths drng_drbg_lengths_of(const struct drng_drbg *drbg);

/* How much entropy input an instantiation without a nonce takes: half as much again (SP 800-90A Rev. 1, 8.6.7). */
size_t drng_drbg_first_entropy_len(const struct drng_drbg *drbg);

/* What libcrypto's generators use where the caller gives no personalization string; its NUL is part of it. */
extern const unsigned char drng_default_personalization[29];

/* Instantiate and reseed; both leave the state READY, or ERROR and an error in the queue. */
bool drng_drbg_seed_first(struct drng_drbg *drbg, bool prediction_resistance, struct drng_bytes personalization);
bool drng_drbg_seed_again(struct drng_drbg *drbg, bool prediction_resistance, struct drng_bytes entropy,
                          struct drng_bytes additional);

/* Sets the secrets to zero and the state to UNINITIALISED. */
void drng_drbg_forget(struct drng_drbg *drbg);

#endif
