/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/reference.h"

#include <string.h>

#include <CUnit/CUnit.h>
#include <openssl/evp.h>

enum { BLOCK = 16 };

/* Kept for the next call under the same key: to make one takes a hundred times as long as a block. */
static EVP_CIPHER_CTX *encryption(const uint8_t *key, size_t key_len)
{
    static EVP_CIPHER_CTX *ctx;
    static uint8_t last_key[DRNG_AES_MAX_KEY];
    static size_t last_len;
    if (ctx != NULL && key_len == last_len && memcmp(key, last_key, key_len) == 0) {
        return ctx;
    }
    const EVP_CIPHER *cipher = key_len == 16   ? EVP_aes_128_ecb()
                               : key_len == 24 ? EVP_aes_192_ecb()
                                               : EVP_aes_256_ecb();
    EVP_CIPHER_CTX_free(ctx);
    ctx = EVP_CIPHER_CTX_new();
    CU_ASSERT_PTR_NOT_NULL_FATAL(ctx);
    CU_ASSERT_EQUAL_FATAL(EVP_EncryptInit_ex(ctx, cipher, NULL, key, NULL), 1);
    memcpy(last_key, key, key_len);
    last_len = key_len;
    return ctx;
}

void reference_encrypt(const uint8_t *key, size_t key_len, const uint8_t in[16], uint8_t out[16])
{
    int len = 0;
    CU_ASSERT_EQUAL_FATAL(EVP_EncryptUpdate(encryption(key, key_len), out, &len, in, BLOCK), 1);
    CU_ASSERT_EQUAL_FATAL(len, BLOCK);
}

void reference_increment(uint8_t v[16])
{
    for (size_t i = BLOCK; i-- > 0;) {
        v[i]++;
        if (v[i] != 0) {
            break;
        }
    }
}

void reference_keystream(const uint8_t *key, size_t key_len, uint8_t v[16], uint8_t *out, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        reference_increment(v);
        reference_encrypt(key, key_len, v, out + i * BLOCK);
    }
}

void reference_before_carry(uint8_t v[16], unsigned bits, unsigned before)
{
    memset(v + BLOCK - bits / 8, 0xff, bits / 8);
    v[BLOCK - 1] = (uint8_t)(0xff - before % 256);
    v[BLOCK - 2] = (uint8_t)(0xff - before / 256);
}

static void xor_into(uint8_t *out, const uint8_t *in, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        out[i] ^= in[i];
    }
}

/* BCC (10.3.3). */
static void bcc(const uint8_t *key, size_t key_len, const uint8_t *data, size_t blocks, uint8_t out[BLOCK])
{
    memset(out, 0, BLOCK);
    for (size_t i = 0; i < blocks; i++) {
        xor_into(out, data + i * BLOCK, BLOCK);
        reference_encrypt(key, key_len, out, out);
    }
}

/* 10.3.2, steps 2 to 5, behind an empty block for the IV of step 9.1; returns the blocks of both together. */
static size_t iv_and_s(uint8_t *to, size_t seedlen, const struct drng_bytes *inputs, size_t count)
{
    size_t len = BLOCK + 8;
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_TRUE_FATAL(len + inputs[i].len <= BLOCK + 8 + REFERENCE_DF_MAX);
        for (size_t j = 0; j < inputs[i].len; j++) {
            to[len++] = inputs[i].data[j];
        }
    }
    const size_t input_len = len - BLOCK - 8;
    to[BLOCK + 2] = (uint8_t)(input_len >> 8);
    to[BLOCK + 3] = (uint8_t)input_len;
    to[BLOCK + 7] = (uint8_t)seedlen;
    to[len++] = 0x80;
    return (len + BLOCK - 1) / BLOCK;
}

void reference_df(size_t key_len, uint8_t *out, const struct drng_bytes *inputs, size_t count)
{
    static uint8_t s[BLOCK + 8 + REFERENCE_DF_MAX + BLOCK];
    const size_t seedlen = key_len + BLOCK;
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t temp[4 * BLOCK] = {0};
    uint8_t x[BLOCK];

    memset(s, 0, sizeof(s));
    const size_t blocks = iv_and_s(s, seedlen, inputs, count);
    for (size_t i = 0; i < key_len; i++) {
        key[i] = (uint8_t)i;
    }
    for (size_t i = 0; i * BLOCK < seedlen; i++) {
        s[3] = (uint8_t)i;
        bcc(key, key_len, s, blocks, temp + i * BLOCK);
    }
    memcpy(key, temp, sizeof(key)); /* the leftmost key_len bytes are used */
    memcpy(x, temp + key_len, BLOCK);
    for (size_t i = 0; i * BLOCK < seedlen; i++) {
        reference_encrypt(key, key_len, x, x);
        memcpy(temp + i * BLOCK, x, BLOCK);
    }
    memcpy(out, temp, seedlen);
}

/* CTR_DRBG_Update (10.2.1.2). */
static void update(struct reference_drbg *drbg, const uint8_t *provided)
{
    const size_t seedlen = drbg->key_len + BLOCK;
    uint8_t temp[4 * BLOCK];
    for (size_t len = 0; len < seedlen; len += BLOCK) {
        reference_keystream(drbg->key, drbg->key_len, drbg->v, temp + len, 1);
    }
    xor_into(temp, provided, seedlen);
    memcpy(drbg->key, temp, drbg->key_len);
    memcpy(drbg->v, temp + drbg->key_len, BLOCK);
}

/* Inputs to seedlen bytes: derived together, or each padded with zeros and all of them added up. */
static void combine(const struct reference_drbg *drbg, uint8_t *out, const struct drng_bytes *inputs, size_t count)
{
    memset(out, 0, DRNG_DRBG_MAX_SEEDLEN);
    if (drbg->use_df) {
        reference_df(drbg->key_len, out, inputs, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        xor_into(out, inputs[i].data, inputs[i].len);
    }
}

void reference_instantiate(struct reference_drbg *drbg, size_t key_len, bool use_df, struct drng_bytes entropy,
                           struct drng_bytes nonce, struct drng_bytes personalization)
{
    const struct drng_bytes inputs[] = {entropy, nonce, personalization};
    uint8_t seed_material[DRNG_DRBG_MAX_SEEDLEN];
    *drbg = (struct reference_drbg){.key_len = key_len, .use_df = use_df};
    combine(drbg, seed_material, inputs, 3);
    update(drbg, seed_material);
    drbg->reseed_counter = 1;
}

void reference_reseed(struct reference_drbg *drbg, struct drng_bytes entropy, struct drng_bytes additional)
{
    const struct drng_bytes inputs[] = {entropy, additional};
    uint8_t seed_material[DRNG_DRBG_MAX_SEEDLEN];
    combine(drbg, seed_material, inputs, 2);
    update(drbg, seed_material);
    drbg->reseed_counter = 1;
}

void reference_generate(struct reference_drbg *drbg, uint8_t *out, size_t out_len, struct drng_bytes additional,
                        const uint8_t *fresh)
{
    uint8_t provided[DRNG_DRBG_MAX_SEEDLEN] = {0};
    if (additional.len > 0) {
        combine(drbg, provided, &additional, 1);
    }
    if (fresh != NULL) {
        xor_into(provided, fresh, DRNG_REQUEST_ENTROPY_LEN);
    }
    if (additional.len > 0 || fresh != NULL) {
        update(drbg, provided);
    }
    uint8_t block[BLOCK];
    for (size_t i = 0; i < out_len; i++) {
        if (i % BLOCK == 0) {
            reference_keystream(drbg->key, drbg->key_len, drbg->v, block, 1);
        }
        out[i] = block[i % BLOCK];
    }
    update(drbg, provided);
    drbg->reseed_counter++;
}

bool reference_matches(const struct reference_drbg *reference, const struct drng_ctr_drbg *drbg)
{
    return memcmp(reference->key, drbg->key, reference->key_len) == 0 && memcmp(reference->v, drbg->v, BLOCK) == 0 &&
           reference->reseed_counter == drbg->reseed_counter;
}
