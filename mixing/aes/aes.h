/*
 * aes.h - AES (FIPS 197) in the two modes that the DRBG and the conditioner need.
 *
 * Keys are 16, 24 or 32 bytes, and every call expands its key anew: a DRBG changes its key with every request, so a
 * schedule kept between calls would save no work, and be one more secret.
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
    DRNG_AES_STACK =
        320, /* bytes of stack below its caller's frame in which ctr may leave secrets; the caller wipes them */
    DRNG_AES_TAIL = 4, /* blocks of the tail of ctr, at most */
    DRNG_AES_CHAINS = 3,
};

/* An expanded key, its bytes in the order of FIPS 197. */
struct drng_aes_schedule {
    _Alignas(16) uint8_t round_key[15][DRNG_AES_BLOCK];
    unsigned rounds; /* 10, 12 or 14 */
};

/* One implementation. It sets every function but request, which may be NULL. None can fail. */
struct drng_aes {
    const char *name; /* "AES-NI" */
    bool fuses;       /* drng_fused_mac() may be used: it needs AES-NI, and so does this implementation */

    /*
     * The keystream of CTR mode as CTR_DRBG counts: v is a 128-bit big-endian number, incremented before each block.
     * The first out_blocks blocks go to `out`, the next tail_blocks, at most DRNG_AES_TAIL, to `tail`; v ends as the
     * last counter used. Nothing beyond these blocks is written, so `out` may end with its last block.
     */
    void (*ctr)(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                uint8_t *tail, size_t tail_blocks);

    /*
     * CBC encryption of `blocks` blocks. chain is the IV, and ends as the last block of ciphertext. in NULL: the
     * plaintext is zeros. out NULL: the ciphertext is discarded, which leaves CBC-MAC.
     */
    void (*cbc)(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out, const uint8_t *in,
                size_t blocks);

    /*
     * A whole request of CTR_DRBG, kept in registers: the first out_len bytes of keystream, at most short_len, go to
     * `out`. The blocks that follow, XOR `provided`, become the new key and v, as in CTR_DRBG_Update. provided is NULL,
     * or 48 bytes. key is aligned to 16 bytes. Leaves no secret on the stack and in registers. NULL: the caller does
     * the same with ctr.
     */
    void (*request)(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                    const uint8_t *provided);
    size_t short_len;

    /*
     * CBC encryption of the same blocks in several chains at once, without ciphertext, under a key that is no secret.
     * It may leave secrets where cbc leaves none: the caller wipes DRNG_AES_STACK bytes, as after ctr.
     */
    void (*chains)(const struct drng_aes_schedule *schedule, uint8_t chain[DRNG_AES_CHAINS][DRNG_AES_BLOCK],
                   const uint8_t *in, size_t blocks);
};

/* Plain C, bitsliced: constant-time on every CPU. */
extern const struct drng_aes drng_aes_portable;

/* On x86-64 only. Each needs the instructions in its name. */
extern const struct drng_aes drng_aes_ni;
extern const struct drng_aes drng_aes_vaes256;
extern const struct drng_aes drng_aes_vaes512;

/* On 64-bit ARM only. Needs AESE and AESMC. */
extern const struct drng_aes drng_aes_arm;

enum { DRNG_AES_KINDS = 4 };

/*
 * Fills `all` with every implementation that this CPU can run, the slowest first, and returns their number. Only this
 * function knows which CPU runs which; drng_self_test_choose() takes the last one that passes its tests.
 */
size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS]);

#endif
