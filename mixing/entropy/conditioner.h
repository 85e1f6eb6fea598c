/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conditioner.h - the vetted conditioning components (SP 800-90B, 3.1.5.1.1) that turn raw words into seed.
 *
 * Each turns a window of words into 128 bits. The key is random and earns no entropy credit.
 */

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mixing/aes/aes.h"
#include "mixing/entropy/health.h"
#include "mixing/entropy/hmac.h"
#include "mixing/machine/wipe.h"
#include "mixing/result.h"

/*
 * AES-128-CBC-MAC with a zero IV. It is secure only if all inputs under one key have the same length: seed.c uses one
 * key and one number of words for each reader. In libdrng that key may be HMAC's, too.
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

/* The state of one window, on the caller's stack. A caller who does not end the window wipes it. */
struct drng_conditioner {
    enum drng_conditioner_kind kind;
    union {
        struct drng_cbc_mac cbc_mac; /* drng_noise_mac() adds to it directly */
        struct drng_hmac hmac;
    };
};

static inline void drng_conditioner_begin(struct drng_conditioner *c, enum drng_conditioner_kind kind,
                                          const struct drng_aes *aes, const uint8_t key[DRNG_CONDITIONER_KEY_LEN])
{
    c->kind = kind;
    if (kind == DRNG_HMAC_SHA256) {
        drng_hmac_begin(&c->hmac, key, DRNG_CONDITIONER_KEY_LEN);
    } else {
        memset(c->cbc_mac.state, 0, sizeof(c->cbc_mac.state));
        memcpy(c->cbc_mac.key, key, sizeof(c->cbc_mac.key));
        c->cbc_mac.aes = aes;
    }
}

/* Adds len bytes, a multiple of DRNG_MAC_LEN. */
static inline void drng_conditioner_update(struct drng_conditioner *c, const void *data, size_t len)
{
    if (c->kind == DRNG_HMAC_SHA256) {
        drng_hmac_update(&c->hmac, data, len);
    } else {
        c->cbc_mac.aes->cbc(c->cbc_mac.key, sizeof(c->cbc_mac.key), c->cbc_mac.state, NULL, data, len / DRNG_MAC_LEN);
    }
}

/* Ends the window, writes the conditioned block, and wipes the state. */
static inline void drng_conditioner_end(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    uint8_t digest[DRNG_HMAC_LEN];
    if (c->kind == DRNG_HMAC_SHA256) {
        drng_hmac_end(&c->hmac, digest);
        memcpy(out, digest, DRNG_CONDITIONED_LEN);
        drng_wipe(digest, sizeof(digest));
    } else {
        memcpy(out, c->cbc_mac.state, DRNG_CONDITIONED_LEN);
    }
    drng_wipe(c, sizeof(*c));
}

/*
 * RDRAND, health tests and AES-CBC-MAC in one loop, for the long windows of RDRAND. A link-time seam like cpu.h: the
 * product links fused_mac_x86.c, or fused_mac_none.c on processors without RDRAND.
 *
 * Reads 2 * blocks words, tests each with `health`, and adds them to `mac`. The MAC's state never leaves the registers,
 * and of the words only what `health` keeps. Each word takes at most DRNG_RDRAND_TRIES executions; those that ended
 * with CF = 0 are added to *retries. After DRNG_EXHAUSTED or DRNG_HEALTH_FAILED `mac` is invalid, and only to be wiped.
 * To be called only if the CPU has RDRAND and AES-NI. known, if not NULL, has the words in place of RDRAND: for known
 * answers.
 */
DRNG_MUST_CHECK enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                                const uint64_t *known, uint64_t *retries);
