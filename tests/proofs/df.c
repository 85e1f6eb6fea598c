/*
 * Block_Cipher_df beside SP 800-90A Rev. 1, 10.3.2 and 10.3.3, written down step by step as the standard has them. AES
 * is any function. The harness knows no private detail of df.c.
 */

#include "mixing/drbg/df.h"
#include "aes_any.h"

#ifndef MOST_INPUT
#define MOST_INPUT 35
#endif

enum { BLOCK = 16, SEEDLEN = KEY_LEN + BLOCK, MOST_S = 8 + MOST_INPUT + 1 + BLOCK };

/* 10.3.3: BCC, over IV || S, where S has whole blocks. */
static u128 model_bcc(const uint8_t *key, u128 iv, const uint8_t *s, size_t s_len)
{
    u128 chaining_value = any_encrypt(key, KEY_LEN, iv);
    for (size_t i = 0; i < MOST_S / BLOCK; i++) {
        if (i < s_len / BLOCK) {
            chaining_value = any_encrypt(key, KEY_LEN, chaining_value ^ number_of_block(s + BLOCK * i));
        }
    }
    return chaining_value;
}

/* 10.3.2. */
static void model_df(uint8_t *out, const uint8_t *input_string, size_t len)
{
    uint8_t s[MOST_S + BLOCK];
    uint8_t key[32];
    uint8_t temp[3 * BLOCK];
    /* Steps 2 to 5. */
    for (size_t i = 0; i < sizeof(s); i++) {
        s[i] = i >= 8 && i < 8 + len ? input_string[i - 8] : i == 8 + len ? 0x80 : 0;
    }
    s[3] = (uint8_t)len;
    s[7] = SEEDLEN;
    const size_t s_len = (8 + len + 1 + BLOCK - 1) / BLOCK * BLOCK;
    /* Step 8. */
    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)i;
    }
    /* Step 9: i counts from 0, in the first 32 bits of IV. */
    for (size_t i = 0; BLOCK * i < SEEDLEN; i++) {
        block_of_number(temp + BLOCK * i, model_bcc(key, (u128)i << 96, s, s_len));
    }
    /* Steps 10 to 15. */
    u128 x = number_of_block(temp + KEY_LEN);
    for (size_t i = 0; BLOCK * i < SEEDLEN; i++) {
        uint8_t block[BLOCK];
        x = any_encrypt(temp, KEY_LEN, x);
        block_of_number(block, x);
        for (size_t j = 0; j < BLOCK && BLOCK * i + j < SEEDLEN; j++) {
            out[BLOCK * i + j] = block[j];
        }
    }
}

/* Two inputs of any lengths, which may be cut anywhere. */
void prove_df(void)
{
    uint8_t input[MOST_INPUT + 1];
    uint8_t out[DRNG_DRBG_MAX_SEEDLEN];
    uint8_t expected[DRNG_DRBG_MAX_SEEDLEN];
    const size_t len = at_most(MOST_INPUT);
    const size_t cut = at_most(MOST_INPUT);
    ASSUME(cut <= len);
    const struct drng_bytes inputs[] = {{input, cut}, {cut == len ? NULL : input + cut, len - cut}};

    drng_block_cipher_df(&any_aes, KEY_LEN, out, inputs, 2);

    model_df(expected, input, len);
    const size_t at = nondet_size();
    ASSUME(at < SEEDLEN);
    CLAIM(out[at] == expected[at], "Block_Cipher_df is the standard's");
    REACHED("derived bytes");
}
