/*
 * cbc_mac.h - AES-128-CBC-MAC with a zero IV, a vetted conditioning component (SP 800-90B, 3.1.5.1.1).
 *
 * CBC-MAC is secure only if all inputs under one key have the same length. seed.c uses one key and one number of words
 * for each reader.
 */

#ifndef DRNG_CBC_MAC_H
#define DRNG_CBC_MAC_H

#include <stddef.h>
#include <stdint.h>

struct drng_aes;

enum { DRNG_MAC_KEY_LEN = 16, DRNG_MAC_LEN = 16 };

/* The state of one MAC, on the caller's stack; the caller wipes it. */
struct drng_cbc_mac {
    uint8_t state[DRNG_MAC_LEN];
    uint8_t key[DRNG_MAC_KEY_LEN];
    const struct drng_aes *aes;
};

void drng_cbc_mac_begin(struct drng_cbc_mac *mac, const struct drng_aes *aes, const uint8_t key[DRNG_MAC_KEY_LEN]);

/* Adds blocks * 16 bytes to the MAC. */
void drng_cbc_mac_update(struct drng_cbc_mac *mac, const uint8_t *data, size_t blocks);

#endif
