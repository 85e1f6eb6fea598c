/*
 * How SHA-256 takes a message apart, beside FIPS 180-4, 5.1.1 and 6.2: whatever its length is and wherever it is cut;
 * and HMAC beside FIPS 198-1. The function of one block is any function here: any_block() is put in its place, and
 * sha256.c has it.
 */

#include <string.h>

#include "mixing/entropy/hmac.h"
#include "mixing/entropy/sha256.c"
#include "proof.h"

#ifndef MOST
#define MOST 73
#endif

enum { MOST_PADDED = (MOST + 9 + BLOCK - 1) / BLOCK * BLOCK };

u128 __CPROVER_uninterpreted_high(u128 h0, u128 h1, u128 m0, u128 m1, u128 m2, u128 m3);
u128 __CPROVER_uninterpreted_low(u128 h0, u128 h1, u128 m0, u128 m1, u128 m2, u128 m3);

void any_block(uint32_t hash[8], const uint8_t block[BLOCK])
{
    u128 h[2];
    u128 m[4];
    memcpy(h, hash, sizeof(h));
    memcpy(m, block, sizeof(m));
    const u128 both[2] = {__CPROVER_uninterpreted_high(h[0], h[1], m[0], m[1], m[2], m[3]),
                          __CPROVER_uninterpreted_low(h[0], h[1], m[0], m[1], m[2], m[3])};
    memcpy(hash, both, sizeof(both));
}

/* 5.1.1, 5.3.3 and 6.2.2, of a message in one piece. */
static void model_sha256(uint8_t digest[32], const uint8_t *message, size_t len)
{
    uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t padded[MOST_PADDED];
    const size_t blocks = (len + 9 + BLOCK - 1) / BLOCK;
    const size_t last = blocks * BLOCK;
    for (size_t i = 0; i < sizeof(padded); i++) {
        padded[i] = i < len ? message[i] : i == len ? 0x80 : 0;
        if (i == last - 1) {
            padded[i] = (uint8_t)(len << 3);
        } else if (i == last - 2) {
            padded[i] = (uint8_t)(len >> 5);
        }
    }
    for (size_t i = 0; i < MOST_PADDED / BLOCK; i++) {
        if (i < blocks) {
            any_block(hash, padded + BLOCK * i);
        }
    }
    for (size_t i = 0; i < 32; i++) {
        digest[i] = (uint8_t)(hash[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static void claim_same(const uint8_t digest[32], const uint8_t expected[32])
{
    const size_t at = nondet_size();
    ASSUME(at < 32);
    CLAIM(digest[at] == expected[at], "the digest is the standard's");
}

void prove_message(void)
{
    uint8_t message[MOST + 1];
    uint8_t digest[32];
    uint8_t expected[32];
    struct drng_sha256 sha;
    const size_t len = at_most(MOST);
    const size_t cut = at_most(MOST);
    ASSUME(cut <= len);
    drng_sha256_begin(&sha);
    drng_sha256_update(&sha, message, cut);
    drng_sha256_update(&sha, message + cut, len - cut);
    drng_sha256_end(&sha, digest);
    model_sha256(expected, message, len);
    claim_same(digest, expected);
    CLAIM(zero_at_any(&sha, sizeof(sha)), "the state is wiped");
    REACHED("a digest");
}

#ifdef HMAC
/* FIPS 198-1, section 4. */
void prove_hmac(void)
{
    uint8_t key[65];
    uint8_t text[9];
    uint8_t digest[32];
    uint8_t expected[32];
    uint8_t inner[BLOCK + 8];
    uint8_t outer[BLOCK + 32];
    struct drng_hmac hmac;
    const size_t key_len = at_most(sizeof(key));
    const size_t len = at_most(8);
    uint8_t k0[BLOCK];
    drng_hmac_begin(&hmac, key, key_len);
    drng_hmac_update(&hmac, text, len);
    drng_hmac_end(&hmac, digest);

    uint8_t hashed[32];
    model_sha256(hashed, key, key_len);
    for (size_t i = 0; i < BLOCK; i++) {
        k0[i] = key_len <= BLOCK ? (i < key_len ? key[i] : 0) : (i < 32 ? hashed[i] : 0);
        inner[i] = k0[i] ^ 0x36;
        outer[i] = k0[i] ^ 0x5c;
    }
    for (size_t i = 0; i < 8; i++) {
        inner[BLOCK + i] = i < len ? text[i] : 0;
    }
    model_sha256(outer + BLOCK, inner, BLOCK + len);
    model_sha256(expected, outer, sizeof(outer));
    claim_same(digest, expected);
    CLAIM(zero_at_any(&hmac, sizeof(hmac)), "the state is wiped");
    REACHED("a MAC");
}
#endif
