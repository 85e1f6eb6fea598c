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
#include "mixing/entropy/cbc_mac.h"
#include "mixing/entropy/hmac.h"

enum drng_conditioner_kind {
    DRNG_CBC_MAC,     /* AES-128-CBC-MAC */
    DRNG_HMAC_SHA256, /* HMAC-SHA-256, the leftmost 128 bits */
};

enum { DRNG_CONDITIONER_KEY_LEN = DRNG_MAC_KEY_LEN, DRNG_CONDITIONED_LEN = DRNG_MAC_LEN };

/* The state of one window; `kind` says which MAC. On the caller's stack; drng_conditioner_end() and _drop() wipe it. */
struct drng_conditioner {
    enum drng_conditioner_kind kind;
    union {
        struct drng_cbc_mac cbc_mac; /* drng_noise_mac() adds to it directly */
        struct drng_hmac hmac;
    };
};

void drng_conditioner_begin(struct drng_conditioner *conditioner, enum drng_conditioner_kind kind,
                            const struct drng_aes *aes, const uint8_t key[DRNG_CONDITIONER_KEY_LEN]);

/* Adds `count` words, an even number, each least significant byte first. */
void drng_conditioner_update(struct drng_conditioner *conditioner, const uint64_t *words, size_t count);

/* Ends the window and writes the conditioned block. */
void drng_conditioner_end(struct drng_conditioner *conditioner, uint8_t out[DRNG_CONDITIONED_LEN]);

/* Ends the window and discards its words. */
void drng_conditioner_drop(struct drng_conditioner *conditioner);

#endif
