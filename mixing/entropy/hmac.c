/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) and HMAC (FIPS 198-1), for the other conditioner. */

#include "mixing/entropy/hmac.h"

#include <endian.h>
#include <string.h>

#include "mixing/machine/wipe.h"

/* ---- SHA-256: no branch and no address depends on the message ---- */

enum {
    BLOCK = DRNG_SHA256_BLOCK,
    ROUNDS = 64,
    WORDS = 16,     /* of a block, and of the message schedule: no step looks back further */
    LENGTH_AT = 56, /* offset of the message's length in the last block */
};

/* FIPS 180-4, 4.2.2. */
static const uint32_t k[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* 6.2.2, step 1: W_t for t of 16 and more replaces W_(t-16). */
static uint32_t next_word(uint32_t w[WORDS], unsigned t)
{
    const uint32_t w2 = w[(t - 2) % WORDS];
    const uint32_t w15 = w[(t - 15) % WORDS];
    const uint32_t sigma1 = rotr(w2, 17) ^ rotr(w2, 19) ^ w2 >> 10;
    const uint32_t sigma0 = rotr(w15, 7) ^ rotr(w15, 18) ^ w15 >> 3;
    w[t % WORDS] += sigma1 + w[(t - 7) % WORDS] + sigma0;
    return w[t % WORDS];
}

/* 6.2.2, step 3. The standard moves the values on by one letter; here the next call passes them under other names. */
static inline void make_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g,
                              uint32_t *h, uint32_t k_and_w)
{
    const uint32_t sum1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    const uint32_t ch = g ^ (e & (f ^ g));
    const uint32_t t1 = *h + sum1 + ch + k_and_w;
    const uint32_t sum0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
    const uint32_t maj = (a & b) | (c & (a | b));
    *d += t1;
    *h = t1 + sum0 + maj;
}

/* Eight rounds, after which every value has its own letter again. s holds a to h. */
static inline void make_rounds(uint32_t s[8], const uint32_t k_and_w[8])
{
    make_round(s[0], s[1], s[2], &s[3], s[4], s[5], s[6], &s[7], k_and_w[0]);
    make_round(s[7], s[0], s[1], &s[2], s[3], s[4], s[5], &s[6], k_and_w[1]);
    make_round(s[6], s[7], s[0], &s[1], s[2], s[3], s[4], &s[5], k_and_w[2]);
    make_round(s[5], s[6], s[7], &s[0], s[1], s[2], s[3], &s[4], k_and_w[3]);
    make_round(s[4], s[5], s[6], &s[7], s[0], s[1], s[2], &s[3], k_and_w[4]);
    make_round(s[3], s[4], s[5], &s[6], s[7], s[0], s[1], &s[2], k_and_w[5]);
    make_round(s[2], s[3], s[4], &s[5], s[6], s[7], s[0], &s[1], k_and_w[6]);
    make_round(s[1], s[2], s[3], &s[4], s[5], s[6], s[7], &s[0], k_and_w[7]);
}

/* 6.2.2 for one block. */
static void take_block(uint32_t hash[8], const uint8_t block[BLOCK])
{
    uint32_t w[WORDS];
    uint32_t s[8];
    uint32_t k_and_w[8];
    memcpy(s, hash, sizeof(s));
    memcpy(w, block, sizeof(w));
    for (unsigned t = 0; t < WORDS; t++) {
        w[t] = be32toh(w[t]);
    }
    for (unsigned t = 0; t < ROUNDS; t += 8) {
        for (unsigned i = 0; i < 8; i++) {
            k_and_w[i] = k[t + i] + (t < WORDS ? w[t + i] : next_word(w, t + i));
        }
        make_rounds(s, k_and_w);
    }
    for (unsigned i = 0; i < 8; i++) {
        hash[i] += s[i];
    }
}

void drng_sha256_begin(struct drng_sha256 *sha)
{
    /* 5.3.3 */
    *sha = (struct drng_sha256){
        .hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void drng_sha256_update(struct drng_sha256 *sha, const void *data, size_t len)
{
    const uint8_t *bytes = data;
    while (len > 0) {
        const size_t at = sha->len % BLOCK;
        const size_t part = len < BLOCK - at ? len : BLOCK - at;
        if (part == BLOCK) {
            take_block(sha->hash, bytes);
        } else {
            memcpy(sha->block + at, bytes, part);
            if (at + part == BLOCK) {
                take_block(sha->hash, sha->block);
            }
        }
        sha->len += part;
        bytes += part;
        len -= part;
    }
}

/* 5.1.1: a 1 bit, zeros, and the length in bits at the end of the last block. */
void drng_sha256_end(struct drng_sha256 *sha, uint8_t digest[DRNG_SHA256_LEN])
{
    static const uint8_t padding[BLOCK] = {0x80};
    const uint64_t bits = htobe64(sha->len * 8);
    drng_sha256_update(sha, padding, 1 + (2 * BLOCK + LENGTH_AT - 1 - sha->len % BLOCK) % BLOCK);
    drng_sha256_update(sha, &bits, sizeof(bits));
    for (size_t i = 0; i < 8; i++) {
        sha->hash[i] = htobe32(sha->hash[i]);
    }
    memcpy(digest, sha->hash, DRNG_SHA256_LEN);
    drng_wipe(sha, sizeof(*sha));
}

/* ---- HMAC ---- */

enum { IPAD = 0x36, OPAD = 0x5c };

/* Starts a hash with K0 XOR pad. */
static void begin_with(struct drng_sha256 *sha, const uint8_t k0[DRNG_SHA256_BLOCK], uint8_t pad)
{
    uint8_t block[DRNG_SHA256_BLOCK];
    for (size_t i = 0; i < sizeof(block); i++) {
        block[i] = k0[i] ^ pad;
    }
    drng_sha256_begin(sha);
    drng_sha256_update(sha, block, sizeof(block));
}

/* FIPS 198-1, section 4, steps 1, 3 to 5, 7 and 8. */
void drng_hmac_begin(struct drng_hmac *hmac, const uint8_t *key, size_t key_len)
{
    uint8_t k0[DRNG_SHA256_BLOCK] = {0};
    memcpy(k0, key, key_len);
    begin_with(&hmac->inner, k0, IPAD);
    begin_with(&hmac->outer, k0, OPAD);
}

void drng_hmac_update(struct drng_hmac *hmac, const void *data, size_t len)
{
    drng_sha256_update(&hmac->inner, data, len);
}

/* Steps 6 and 9. */
void drng_hmac_end(struct drng_hmac *hmac, uint8_t digest[DRNG_HMAC_LEN])
{
    drng_sha256_end(&hmac->inner, digest);
    drng_sha256_update(&hmac->outer, digest, DRNG_HMAC_LEN);
    drng_sha256_end(&hmac->outer, digest);
}
