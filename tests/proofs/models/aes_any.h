/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes_any.h - AES as any function of key and block at all, in the two modes of mixing/aes/aes.h.
 *
 * The prover chooses the function, and chooses the same value for the same key and block. What is proved with it holds
 * for AES, and does not depend on what AES computes.
 */

#ifndef DRNG_AES_ANY_H
#define DRNG_AES_ANY_H

#include <string.h>

#include "mixing/aes/aes.h"
#include "proof.h"

u128 __CPROVER_uninterpreted_aes(u128 key, u128 more_key, size_t key_len, u128 block);

/* SP 800-90A's strings of bits are numbers whose first byte is the highest. */
static inline u128 number_of_block(const uint8_t bytes[16])
{
    uint64_t halves[2];
    memcpy(halves, bytes, sizeof(halves));
    return (u128)__builtin_bswap64(halves[0]) << 64 | __builtin_bswap64(halves[1]);
}

static inline void block_of_number(uint8_t bytes[16], u128 number)
{
    const uint64_t halves[2] = {__builtin_bswap64((uint64_t)(number >> 64)),
                                __builtin_bswap64((uint64_t)(number & UINT64_MAX))};
    memcpy(bytes, halves, sizeof(halves));
}

/* Block_Encrypt (Key, block). */
static inline u128 any_encrypt(const uint8_t *key, size_t key_len, u128 block)
{
    uint64_t words[4] = {0, 0, 0, 0};
    memcpy(words, key, 16);
    if (key_len >= 24) {
        memcpy(words + 2, key + 16, 8);
    }
    if (key_len == 32) {
        memcpy(words + 3, key + 24, 8);
    }
    return __CPROVER_uninterpreted_aes((u128)words[0] << 64 | words[1], (u128)words[2] << 64 | words[3], key_len,
                                       block);
}

static inline void any_ctr(const uint8_t *key, size_t key_len, uint8_t v[16], uint8_t *out, size_t out_blocks,
                           uint8_t *tail, size_t tail_blocks)
{
    CLAIM(key_len == 16 || key_len == 24 || key_len == 32, "AES has keys of 16, 24 or 32 bytes");
    CLAIM(__CPROVER_r_ok(key, key_len), "the key is there");
    u128 counter = number_of_block(v);
    for (size_t i = 0; i < out_blocks; i++) {
        block_of_number(out + 16 * i, any_encrypt(key, key_len, ++counter));
    }
    for (size_t i = 0; i < tail_blocks; i++) {
        block_of_number(tail + 16 * i, any_encrypt(key, key_len, ++counter));
    }
    block_of_number(v, counter);
}

static inline void any_cbc(const uint8_t *key, size_t key_len, uint8_t chain[16], uint8_t *out, const uint8_t *in,
                           size_t blocks)
{
    CLAIM(key_len == 16 || key_len == 24 || key_len == 32, "AES has keys of 16, 24 or 32 bytes");
    CLAIM(__CPROVER_r_ok(key, key_len), "the key is there");
    u128 value = number_of_block(chain);
    for (size_t i = 0; i < blocks; i++) {
        value = any_encrypt(key, key_len, value ^ (in != NULL ? number_of_block(in + 16 * i) : 0));
        if (out != NULL) {
            block_of_number(out + 16 * i, value);
        }
    }
    block_of_number(chain, value);
}

/* CTR_DRBG_Update follows the output in the same run of the counter, and one with the fresh word comes before. */
static inline void any_request(uint8_t *key, size_t key_len, uint8_t v[16], uint8_t *out, size_t out_len,
                               const uint8_t *fresh)
{
    uint8_t stream[5 * 16];
    const size_t blocks = (out_len + 15) / 16;
    CLAIM(out_len <= 2 * 16, "at most short_len bytes");
    CLAIM(__CPROVER_w_ok(key, 32), "the key has room for any");
    if (fresh != NULL) {
        any_request(key, key_len, v, out, 0, NULL);
        for (size_t i = 0; i < 8; i++) {
            key[i] ^= fresh[i];
        }
    }
    any_ctr(key, key_len, v, stream, blocks, stream + 16 * blocks, key_len == 16 ? 2 : 3);
    for (size_t i = 0; i < out_len; i++) {
        out[i] = stream[i];
    }
    for (size_t i = 0; i < key_len + 16; i++) {
        const uint8_t byte = stream[16 * blocks + i] ^ (fresh != NULL && i < 8 ? fresh[i] : 0);
        if (i < key_len) {
            key[i] = byte;
        } else {
            v[i - key_len] = byte;
        }
    }
}

#ifdef REQUEST
static const struct drng_aes any_aes = {
    .name = "any", .ctr = any_ctr, .cbc = any_cbc, .request = any_request, .short_len = 32};
#else
static const struct drng_aes any_aes = {.name = "any", .ctr = any_ctr, .cbc = any_cbc};
#endif

#endif
