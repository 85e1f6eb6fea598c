/*
 * Block_Cipher_df and BCC: SP 800-90A Rev. 1, 10.3.2 and 10.3.3; the steps quoted here are theirs.
 *
 * Step 9 runs BCC two or three times over the same string S, each time with another IV in front. The code runs all of
 * these chains side by side: every piece of S is passed to each chain, so S is read once and never stored.
 */
#include "mixing/drbg/df.h"

#include <string.h>

#include "mixing/memory/wipe.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    CHAINS = 3, /* blocks of keylen + outlen, rounded up */
};

/* 10.3.2, step 8: "K = leftmost (0x00010203...1D1E1F, keylen)." */
static const uint8_t df_key[DRNG_AES_MAX_KEY] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* The chains of step 9. A chain is the chaining_value of one BCC. */
struct chains {
    const struct drng_aes *aes;
    size_t key_len;
    size_t count;
    uint8_t chain[CHAINS][BLOCK];
    uint8_t partial[BLOCK]; /* the bytes of S that do not fill a block yet */
    size_t partial_len;
};

static void absorb_blocks(struct chains *c, const uint8_t *data, size_t blocks)
{
    for (size_t i = 0; i < c->count; i++) {
        c->aes->cbc(df_key, c->key_len, c->chain[i], NULL, data, blocks);
    }
}

/*
 * Step 9.1: "IV = i || 0^(outlen - len (i))", i in 32 bits. 10.3.3, step 1: "chaining_value = 0^outlen." The IV is the
 * first block.
 */
static void start(struct chains *c, const struct drng_aes *aes, size_t key_len)
{
    *c = (struct chains){.aes = aes, .key_len = key_len, .count = (drng_ctr_drbg_seedlen(key_len) + BLOCK - 1) / BLOCK};
    for (size_t i = 0; i < c->count; i++) {
        uint8_t iv[BLOCK] = {0, 0, 0, (uint8_t)i};
        aes->cbc(df_key, key_len, c->chain[i], NULL, iv, 1);
    }
}

static void absorb(struct chains *c, const uint8_t *data, size_t len)
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
            return;
        }
        c->partial_len = 0;
        absorb_blocks(c, c->partial, 1);
    }
    absorb_blocks(c, data, len / BLOCK);
    if (len % BLOCK > 0) {
        c->partial_len = len % BLOCK;
        memcpy(c->partial, data + len - c->partial_len, c->partial_len);
    }
}

static void put_be32(uint8_t out[4], size_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

/*
 * Steps 2 to 5: "L = len (input_string)/8. N = number_of_bits_to_return/8. S = L || N || input_string || 0x80. While
 * (len (S) mod outlen) != 0, S = S || 0x00."
 */
static void absorb_s(struct chains *c, const struct drng_bytes *inputs, size_t count)
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint8_t header[8];
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += inputs[i].len;
    }
    put_be32(header, len);
    put_be32(header + 4, drng_ctr_drbg_seedlen(c->key_len));

    absorb(c, header, sizeof(header));
    for (size_t i = 0; i < count; i++) {
        absorb(c, inputs[i].data, inputs[i].len);
    }
    absorb(c, padding, BLOCK - c->partial_len);
}

/*
 * Steps 10 to 14: "K = leftmost (temp, keylen). X = select (temp, keylen+1, keylen+outlen). While len (temp) <
 * number_of_bits_to_return, do X = Block_Encrypt (K, X), temp = temp || X." These X are the CBC encryption of zeros
 * with X as the IV.
 */
static void squeeze(struct chains *c, uint8_t *out)
{
    const size_t seedlen = drng_ctr_drbg_seedlen(c->key_len);
    uint8_t temp[CHAINS * BLOCK];
    uint8_t x[BLOCK];
    uint8_t blocks[CHAINS * BLOCK];

    memcpy(temp, c->chain, sizeof(temp));
    memcpy(x, temp + c->key_len, BLOCK);
    c->aes->cbc(temp, c->key_len, x, blocks, NULL, c->count);
    memcpy(out, blocks, seedlen);
    drng_wipe(temp, sizeof(temp));
    drng_wipe(x, sizeof(x));
    drng_wipe(blocks, sizeof(blocks));
}

void drng_block_cipher_df(const struct drng_aes *aes, size_t key_len, uint8_t out[DRNG_DRBG_MAX_SEEDLEN],
                          const struct drng_bytes *inputs, size_t count)
{
    struct chains c;

    start(&c, aes, key_len);
    absorb_s(&c, inputs, count);
    squeeze(&c, out);
    drng_wipe(&c, sizeof(c));
}
