#include "mixing/drbg/df.h"

#include <string.h>

#include "mixing/memory/wipe.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    CHAINS = 3, /* blocks of seedlen, rounded up */
};

/* The fixed key of 10.3.2, step 8. */
static const uint8_t df_key[DRNG_AES_MAX_KEY] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* All the BCC chains of step 9 side by side, so that S is run through once and never stored. */
struct chains {
    const struct drng_aes *aes;
    size_t key_len;
    size_t count;
    uint8_t chain[CHAINS][BLOCK];
    uint8_t partial[BLOCK]; /* the bytes of S that do not fill a block yet */
    size_t partial_len;
};

static enum drng_result absorb_blocks(struct chains *c, const uint8_t *data, size_t blocks)
{
    for (size_t i = 0; i < c->count; i++) {
        const enum drng_result status = c->aes->cbc(df_key, c->key_len, c->chain[i], NULL, data, blocks);
        if (status != DRNG_OK) {
            return status;
        }
    }
    return DRNG_OK;
}

/* 10.3.2, step 9.1 and 10.3.3 on its result: each chain starts with its number as a block. */
static enum drng_result start(struct chains *c, const struct drng_aes *aes, size_t key_len)
{
    *c = (struct chains){.aes = aes, .key_len = key_len, .count = (drng_ctr_drbg_seedlen(key_len) + BLOCK - 1) / BLOCK};
    for (size_t i = 0; i < c->count; i++) {
        uint8_t iv[BLOCK] = {0, 0, 0, (uint8_t)i};
        const enum drng_result status = aes->cbc(df_key, key_len, c->chain[i], NULL, iv, 1);
        if (status != DRNG_OK) {
            return status;
        }
    }
    return DRNG_OK;
}

static enum drng_result absorb(struct chains *c, const uint8_t *data, size_t len)
{
    if (c->partial_len > 0 || len < BLOCK) {
        const size_t room = BLOCK - c->partial_len;
        const size_t part = len < room ? len : room;
        if (part > 0) {
            memcpy(c->partial + c->partial_len, data, part);
            c->partial_len += part;
            data += part;
            len -= part;
        }
        if (c->partial_len < BLOCK) {
            return DRNG_OK;
        }
        c->partial_len = 0;
        const enum drng_result status = absorb_blocks(c, c->partial, 1);
        if (status != DRNG_OK) {
            return status;
        }
    }
    const enum drng_result status = absorb_blocks(c, data, len / BLOCK);
    if (status == DRNG_OK && len % BLOCK > 0) {
        c->partial_len = len % BLOCK;
        memcpy(c->partial, data + len - c->partial_len, c->partial_len);
    }
    return status;
}

static void put_be32(uint8_t out[4], size_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

/* Steps 2 to 5: S = L || N || input_string || 0x80 || zeros up to a whole block. */
static enum drng_result absorb_s(struct chains *c, const struct drng_bytes *inputs, size_t count)
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint8_t header[8];
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += inputs[i].len;
    }
    put_be32(header, len);
    put_be32(header + 4, drng_ctr_drbg_seedlen(c->key_len));

    enum drng_result status = absorb(c, header, sizeof(header));
    for (size_t i = 0; i < count && status == DRNG_OK; i++) {
        status = absorb(c, inputs[i].data, inputs[i].len);
    }
    return status == DRNG_OK ? absorb(c, padding, BLOCK - c->partial_len) : status;
}

/* Steps 10 to 13: X = E(K, X) over and over is CBC encryption of zeros with X as the IV. */
static enum drng_result squeeze(struct chains *c, uint8_t *out)
{
    const size_t seedlen = drng_ctr_drbg_seedlen(c->key_len);
    uint8_t temp[CHAINS * BLOCK];
    uint8_t x[BLOCK];
    uint8_t blocks[CHAINS * BLOCK];

    memcpy(temp, c->chain, sizeof(temp));
    memcpy(x, temp + c->key_len, BLOCK);
    const enum drng_result status = c->aes->cbc(temp, c->key_len, x, blocks, NULL, c->count);
    if (status == DRNG_OK) {
        memcpy(out, blocks, seedlen);
    }
    drng_wipe(temp, sizeof(temp));
    drng_wipe(x, sizeof(x));
    drng_wipe(blocks, sizeof(blocks));
    return status;
}

enum drng_result drng_block_cipher_df(const struct drng_aes *aes, size_t key_len, uint8_t out[DRNG_DRBG_MAX_SEEDLEN],
                                      const struct drng_bytes *inputs, size_t count)
{
    struct chains c;

    memset(out, 0, drng_ctr_drbg_seedlen(key_len));
    enum drng_result status = start(&c, aes, key_len);
    if (status == DRNG_OK) {
        status = absorb_s(&c, inputs, count);
    }
    if (status == DRNG_OK) {
        status = squeeze(&c, out);
    }
    drng_wipe(&c, sizeof(c));
    return status;
}
