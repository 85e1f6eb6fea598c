/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block_Cipher_df beside SP 800-90A Rev. 1, 10.3.2 and 10.3.3, written down step by step as the standard has them. AES
 * is any function. The harness knows no private detail of df.c.
 *
 * A run of the prover for each length of the input. It is cut in two, so that a piece of it may begin anywhere.
 */

#include "mixing/drbg/df.h"
#include "aes_any.h"

#ifndef INPUT_LEN
#define INPUT_LEN 0
#define CUT       0
#endif

enum { BLOCK = 16, SEEDLEN = KEY_LEN + BLOCK, S_LEN = (8 + INPUT_LEN + 1 + BLOCK - 1) / BLOCK * BLOCK };

static const uint8_t key_of_df[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* 10.3.3: BCC, over IV || S. */
static u128 model_bcc(u128 iv, const uint8_t s[S_LEN])
{
    u128 chaining_value = any_encrypt(key_of_df, KEY_LEN, iv);
    for (size_t i = 0; i < S_LEN / BLOCK; i++) {
        chaining_value = any_encrypt(key_of_df, KEY_LEN, chaining_value ^ number_of_block(s + BLOCK * i));
    }
    return chaining_value;
}

/* 10.3.2. */
static void model_df(uint8_t out[3 * BLOCK], const uint8_t input_string[INPUT_LEN + 1])
{
    uint8_t s[S_LEN];
    uint8_t temp[3 * BLOCK];
    /* Steps 2 to 5. */
    for (size_t i = 0; i < S_LEN; i++) {
        s[i] = i >= 8 && i < 8 + INPUT_LEN ? input_string[i - 8] : i == 8 + INPUT_LEN ? 0x80 : 0;
    }
    s[2] = INPUT_LEN >> 8;
    s[3] = INPUT_LEN & 0xff;
    s[7] = SEEDLEN;
    /* Step 9: i counts from 0, in the first 32 bits of IV. */
    for (size_t i = 0; BLOCK * i < SEEDLEN; i++) {
        block_of_number(temp + BLOCK * i, model_bcc((u128)i << 96, s));
    }
    /* Steps 10 to 15. */
    u128 x = number_of_block(temp + KEY_LEN);
    for (size_t i = 0; BLOCK * i < SEEDLEN; i++) {
        x = any_encrypt(temp, KEY_LEN, x);
        block_of_number(out + BLOCK * i, x);
    }
}

void prove_df(void)
{
    uint8_t input[INPUT_LEN + 1];
    uint8_t out[DRNG_DRBG_MAX_SEEDLEN + 1];
    uint8_t expected[3 * BLOCK];
    const struct drng_bytes inputs[] = {{CUT == 0 ? NULL : input, CUT}, {input + CUT, INPUT_LEN - CUT}};
    ANY(input);
    ANY(out);
    const uint8_t behind = out[SEEDLEN];

    drng_block_cipher_df(&any_aes, KEY_LEN, out, inputs, 2);

    model_df(expected, input);
    bool same = true;
    for (size_t i = 0; i < SEEDLEN; i++) {
        same = same && out[i] == expected[i];
    }
    CLAIM(same, "Block_Cipher_df is the standard's");
    CLAIM(out[SEEDLEN] == behind, "nothing is written behind it");
    REACHED("derived bytes");
}
