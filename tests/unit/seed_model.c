/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/seed_model.h"

#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { MOST_WORDS = 4096 };

/* Each word's least significant byte first. */
static const uint8_t *bytes_of(const uint64_t *words, size_t count)
{
    static uint8_t bytes[MOST_WORDS * sizeof(*words)];
    for (size_t i = 0; i < count && i < MOST_WORDS; i++) {
        for (size_t at = 0; at < sizeof(*words); at++) {
            bytes[i * sizeof(*words) + at] = (uint8_t)(words[i] >> 8 * at);
        }
    }
    return bytes;
}

static bool cbc_mac_block(const uint64_t *key, const uint64_t *words, size_t count, uint8_t block[DRNG_MAC_LEN])
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    bool done = ctx != NULL && EVP_EncryptInit_ex(ctx, EVP_aes_128_cbc(), NULL, (const uint8_t *)key, NULL) == 1;
    for (size_t i = 0; i < count && done; i += 2) {
        int len = 0;
        done = EVP_EncryptUpdate(ctx, block, &len, bytes_of(words + i, 2), DRNG_MAC_LEN) == 1 && len == DRNG_MAC_LEN;
    }
    EVP_CIPHER_CTX_free(ctx);
    return done;
}

static bool hmac_block(const uint64_t *key, const uint64_t *words, size_t count, uint8_t block[DRNG_MAC_LEN])
{
    uint8_t digest[DRNG_HMAC_LEN] = {0};
    const bool done = HMAC(EVP_sha256(), key, DRNG_CONDITIONER_KEY_LEN, bytes_of(words, count), count * sizeof(*words),
                           digest, NULL) != NULL;
    memcpy(block, digest, DRNG_MAC_LEN);
    return done;
}

bool seed_model_condition(enum drng_conditioner_kind kind, const uint64_t key[SEED_MODEL_KEY_WORDS],
                          const uint64_t *words, size_t window, uint8_t *out, size_t len)
{
    uint8_t block[DRNG_MAC_LEN];
    for (size_t done = 0; done < len; done += sizeof(block), words += window) {
        if (!(kind == DRNG_CBC_MAC ? cbc_mac_block : hmac_block)(key, words, window, block)) {
            return false;
        }
        memcpy(out + done, block, len - done < sizeof(block) ? len - done : sizeof(block));
    }
    return true;
}

size_t seed_model_words(size_t window, size_t len)
{
    return (len + DRNG_CONDITIONED_LEN - 1) / DRNG_CONDITIONED_LEN * window;
}
