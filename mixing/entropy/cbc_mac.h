/*
 * cbc_mac.h - AES-128-CBC-MAC, the conditioner: a vetted one (SP 800-90B, 3.1.5.1.1), zero IV.
 *
 * Inputs of one length under one key, as CBC-MAC wants it: seed.c sees to that, with a key and a fixed number of
 * words for each instruction.
 */

#ifndef DRNG_CBC_MAC_H
#define DRNG_CBC_MAC_H

#include <stddef.h>
#include <stdint.h>

struct drng_aes;

enum { DRNG_MAC_KEY_LEN = 16, DRNG_MAC_LEN = 16 };

/* Lives on the caller's stack for one MAC; the caller wipes it. */
struct drng_cbc_mac {
    uint8_t state[DRNG_MAC_LEN];
    uint8_t key[DRNG_MAC_KEY_LEN];
    const struct drng_aes *aes;
};

void drng_cbc_mac_begin(struct drng_cbc_mac *mac, const struct drng_aes *aes, const uint8_t key[DRNG_MAC_KEY_LEN]);

/* Takes in blocks * 16 bytes. */
void drng_cbc_mac_update(struct drng_cbc_mac *mac, const uint8_t *data, size_t blocks);

#endif
