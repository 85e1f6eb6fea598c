/*
 * conditioner.h - the vetted conditioning components (SP 800-90B, 3.1.5.1.1) that turn raw words into seed.
 *
 * Each turns a window of words into 128 bits. The key is random and earns no entropy credit.
 */

#ifndef DRNG_CONDITIONER_H
#define DRNG_CONDITIONER_H

#include <stddef.h>
#include <stdint.h>

#include "mixing/aes/aes.h"
#include "mixing/entropy/hmac.h"

/*
 * AES-128-CBC-MAC with a zero IV. It is secure only if all inputs under one key have the same length: seed.c uses one
 * key and one number of words for each reader.
 */
enum { DRNG_MAC_KEY_LEN = 16, DRNG_MAC_LEN = 16 };

struct drng_cbc_mac {
    uint8_t state[DRNG_MAC_LEN];
    uint8_t key[DRNG_MAC_KEY_LEN];
    const struct drng_aes *aes;
};

enum drng_conditioner_kind {
    DRNG_CBC_MAC,     /* AES-128-CBC-MAC */
    DRNG_HMAC_SHA256, /* HMAC-SHA-256, the leftmost 128 bits */
};

enum { DRNG_CONDITIONER_KEY_LEN = DRNG_MAC_KEY_LEN, DRNG_CONDITIONED_LEN = DRNG_MAC_LEN };

/* The state of one window; `kind` says which MAC. On the caller's stack; a caller who does not end the window wipes it.
 */
struct drng_conditioner {
    enum drng_conditioner_kind kind;
    union {
        struct drng_cbc_mac cbc_mac; /* drng_noise_mac() adds to it directly */
        struct drng_hmac hmac;
    };
};

void drng_conditioner_begin(struct drng_conditioner *conditioner, enum drng_conditioner_kind kind,
                            const struct drng_aes *aes, const uint8_t key[DRNG_CONDITIONER_KEY_LEN]);

/* Adds len bytes, a multiple of DRNG_MAC_LEN. */
void drng_conditioner_update(struct drng_conditioner *conditioner, const void *data, size_t len);

/* Ends the window, writes the conditioned block, and wipes the state. */
void drng_conditioner_end(struct drng_conditioner *conditioner, uint8_t out[DRNG_CONDITIONED_LEN]);

#endif
