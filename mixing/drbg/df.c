/*
 * Block_Cipher_df and BCC: SP 800-90A Rev. 1, 10.3.2 and 10.3.3; the steps quoted here are theirs.
 *
 * Step 9 runs BCC two or three times over the same string S, each time with another IV in front. The code runs all of
 * these chains side by side: every piece of S is passed to each chain, so S is read once and never stored whole. Three
 * chains run where two are needed, too: AES does not take longer for it.
 */
#include "mixing/drbg/df.h"

#include <string.h>

#include "mixing/drbg/df_constants.h"
#include "mixing/memory/wipe.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    CHAINS = DRNG_AES_CHAINS, /* blocks of keylen + outlen, rounded up */
    COLLECTED = 8 * BLOCK,    /* bytes of S that are collected for one call: all of most inputs */
};

/* The chains of step 9. A chain is the chaining_value of one BCC. */
struct chains {
    const struct drng_aes *aes;
    const struct drng_df_constants *constants;
    size_t key_len;
    uint8_t chain[CHAINS][BLOCK];
    uint8_t collected[COLLECTED]; /* the bytes of S that the chains have not taken yet */
    size_t collected_len;
};

static void take_blocks(struct chains *c, const uint8_t *data, size_t blocks)
{
    c->aes->chains(&c->constants->schedule, c->chain, data, blocks);
}

/*
 * 10.3.2, step 8: "K = leftmost (0x00010203...1D1E1F, keylen)." Step 9.1: "IV = i || 0^(outlen - len (i))", i in 32
 * bits. 10.3.3, step 1: "chaining_value = 0^outlen." The IV is the first block, so the chains begin with constants.
 */
static void start(struct chains *c, const struct drng_aes *aes, size_t key_len)
{
    c->aes = aes;
    c->constants = &drng_df_constants[key_len / 8 - 2];
    c->key_len = key_len;
    memcpy(c->chain, c->constants->chain, sizeof(c->chain));
    c->collected_len = 0;
}

/* Adds what there is room for, and returns its length. */
static size_t collect(struct chains *c, const uint8_t *data, size_t len)
{
    const size_t room = COLLECTED - c->collected_len;
    const size_t part = len < room ? len : room;
    if (part > 0) {
        memcpy(c->collected + c->collected_len, data, part);
        c->collected_len += part;
    }
    return part;
}

static void absorb(struct chains *c, const uint8_t *data, size_t len)
{
    while (len > 0) {
        const size_t part = collect(c, data, len);
        data += part;
        len -= part;
        if (c->collected_len == COLLECTED) {
            take_blocks(c, c->collected, COLLECTED / BLOCK);
            c->collected_len = 0;
        }
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
    absorb(c, padding, BLOCK - c->collected_len % BLOCK);
    take_blocks(c, c->collected, c->collected_len / BLOCK);
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
    c->aes->cbc(temp, c->key_len, x, blocks, NULL, (seedlen + BLOCK - 1) / BLOCK);
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
