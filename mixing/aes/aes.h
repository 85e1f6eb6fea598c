/*
 * aes.h - AES (FIPS 197) in the two shapes that the DRBG and the conditioner need.
 *
 * Keys are 16, 24 or 32 bytes and are expanded anew in every call: a DRBG changes its key with every request,
 * so a schedule kept between calls would be one more secret and no less work.
 */

#ifndef DRNG_AES_H
#define DRNG_AES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/cpu.h"

enum {
    DRNG_AES_BLOCK = 16,
    DRNG_AES_MAX_KEY = 32,
    DRNG_AES_STACK = 320, /* bytes below its caller's frame in which ctr may leave secrets, for the caller to wipe */
};

/* One implementation; both slots are required. They cannot fail. */
struct drng_aes {
    const char *name; /* "AES-NI" */
    bool fuses;       /* drng_fused_mac() can run, and is right, where this one is: both are of AES-NI */

    /*
     * Keystream of CTR mode as CTR_DRBG counts: v is a 128-bit big-endian number, incremented before each
     * block. The first out_blocks blocks go to `out`, the next tail_blocks to `tail`; v ends as the last
     * counter used. Only the blocks are written, so `out` may end where the last one does.
     */
    void (*ctr)(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                uint8_t *tail, size_t tail_blocks);

    /*
     * CBC encryption of `blocks` blocks; chain is the IV and ends as the last block of ciphertext. in NULL
     * stands for zeros; out NULL throws the ciphertext away, which leaves CBC-MAC.
     */
    void (*cbc)(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out, const uint8_t *in,
                size_t blocks);
};

/* Plain C, bitsliced: constant-time on every CPU. */
extern const struct drng_aes drng_aes_portable;

/* Those below are there on x86-64 only, and need what their names say. */
extern const struct drng_aes drng_aes_ni;
extern const struct drng_aes drng_aes_vaes256;
extern const struct drng_aes drng_aes_vaes512;

enum { DRNG_AES_KINDS = 4 };

/*
 * Every implementation that this CPU can run, the slowest first; returns how many. The one place that knows which CPU
 * runs which; drng_self_test_choose() takes the last that is right.
 */
size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS]);

#endif
