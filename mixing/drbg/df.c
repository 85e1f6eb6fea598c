/* SPDX-License-Identifier: Apache-2.0 */
/* Block_Cipher_df and BCC: SP 800-90A Rev. 1, 10.3.2 and 10.3.3; the steps quoted here are theirs. */
#include "mixing/drbg/df.h"

#include <string.h>

#include "mixing/machine/wipe.h"

enum {
    BLOCK = DRNG_AES_BLOCK,
    MOST_BLOCKS = 3,       /* of keylen + outlen, and of seedlen, rounded up */
    COLLECTED = 8 * BLOCK, /* bytes that are collected for one call of AES: all of most inputs */
};

/* 10.3.2, step 8: "K = leftmost (0x00010203...1D1E1F, keylen)." */
static const uint8_t k[DRNG_AES_MAX_KEY] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                            16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* BCC while it reads its data: CBC without ciphertext. */
struct bcc {
    const struct drng_aes *aes;
    size_t key_len;
    uint8_t chaining_value[BLOCK]; /* 10.3.3, step 1: "chaining_value = 0^outlen." */
    uint8_t collected[COLLECTED];
    size_t collected_len;
};

static void absorb(struct bcc *bcc, const uint8_t *data, size_t len)
{
    while (len > 0) {
        const size_t room = COLLECTED - bcc->collected_len;
        const size_t part = len < room ? len : room;
        memcpy(bcc->collected + bcc->collected_len, data, part);
        bcc->collected_len += part;
        data += part;
        len -= part;
        if (bcc->collected_len == COLLECTED) {
            bcc->aes->cbc(k, bcc->key_len, bcc->chaining_value, NULL, bcc->collected, COLLECTED / BLOCK);
            bcc->collected_len = 0;
        }
    }
}

/*
 * 10.3.2, step 9: "IV = i || 0^(outlen - len (i)), temp = temp || BCC (K, (IV || S))". Steps 2 to 5: "L = len
 * (input_string)/8. N = number_of_bits_to_return/8. S = L || N || input_string || 0x80. While (len (S) mod outlen) !=
 * 0, S = S || 0x00." S is never stored whole: it is read anew for each i.
 */
static void append_bcc(struct bcc *bcc, uint8_t temp[BLOCK], size_t i, const struct drng_bytes *inputs, size_t count)
{
    static const uint8_t padding[BLOCK] = {0x80};
    const size_t seedlen = DRNG_DRBG_SEEDLEN(bcc->key_len);
    uint8_t header[BLOCK + 8] = {0};
    size_t len = 0;
    for (size_t input = 0; input < count; input++) {
        len += inputs[input].len;
    }
    for (int byte = 0; byte < 4; byte++) {
        header[byte] = (uint8_t)(i >> (24 - 8 * byte));
        header[BLOCK + byte] = (uint8_t)(len >> (24 - 8 * byte));
        header[BLOCK + 4 + byte] = (uint8_t)(seedlen >> (24 - 8 * byte));
    }

    memset(bcc->chaining_value, 0, BLOCK);
    bcc->collected_len = 0;
    absorb(bcc, header, sizeof(header));
    for (size_t input = 0; input < count; input++) {
        absorb(bcc, inputs[input].data, inputs[input].len);
    }
    absorb(bcc, padding, BLOCK - bcc->collected_len % BLOCK);
    bcc->aes->cbc(k, bcc->key_len, bcc->chaining_value, NULL, bcc->collected, bcc->collected_len / BLOCK);
    memcpy(temp, bcc->chaining_value, BLOCK);
}

/*
 * Steps 10 to 14: "K = leftmost (temp, keylen). X = select (temp, keylen+1, keylen+outlen). While len (temp) <
 * number_of_bits_to_return, do X = Block_Encrypt (K, X), temp = temp || X." These X are the CBC encryption of zeros
 * with X as the IV.
 */
void drng_block_cipher_df(const struct drng_aes *aes, size_t key_len, uint8_t out[DRNG_DRBG_MAX_SEEDLEN],
                          const struct drng_bytes *inputs, size_t count)
{
    const size_t seedlen = DRNG_DRBG_SEEDLEN(key_len);
    const size_t blocks = (seedlen + BLOCK - 1) / BLOCK;
    struct bcc bcc = {.aes = aes, .key_len = key_len};
    uint8_t temp[MOST_BLOCKS * BLOCK];
    uint8_t x[MOST_BLOCKS * BLOCK];

    for (size_t i = 0; i < blocks; i++) {
        append_bcc(&bcc, temp + i * BLOCK, i, inputs, count);
    }
    aes->cbc(temp, key_len, temp + key_len, x, NULL, blocks);
    memcpy(out, x, seedlen);
    drng_wipe(&bcc, sizeof(bcc));
    drng_wipe(temp, sizeof(temp));
    drng_wipe(x, sizeof(x));
}
