/* AES from libcrypto, for CPUs without AES-NI: libcrypto's portable AES is constant-time where it can be. */

#include <stdbool.h>
#include <string.h>

#include <openssl/evp.h>

#include "mixing/aes.h"
#include "mixing/libcrypto.h"

enum { STRETCH = 1 << 20 }; /* bytes in one call of EVP_EncryptUpdate(), whose lengths are ints */

/* v + blocks, as a 128-bit big-endian number. */
static void add(uint8_t v[DRNG_AES_BLOCK], size_t blocks)
{
    uint64_t carry = blocks;
    for (size_t i = DRNG_AES_BLOCK; i-- > 0 && carry != 0; carry >>= 8) {
        carry += v[i];
        v[i] = (uint8_t)carry;
    }
}

static bool encrypt(EVP_CIPHER_CTX *ctx, uint8_t *out, const uint8_t *in, size_t len)
{
    while (len > 0) {
        const int part = len < STRETCH ? (int)len : STRETCH;
        int written = 0;
        if (EVP_EncryptUpdate(ctx, out, &written, in, part) != 1 || written != part) {
            return false;
        }
        out += part;
        in += part;
        len -= (size_t)part;
    }
    return true;
}

static bool keystream(EVP_CIPHER_CTX *ctx, uint8_t *out, size_t blocks)
{
    if (blocks == 0) {
        return true;
    }
    memset(out, 0, blocks * DRNG_AES_BLOCK);
    return encrypt(ctx, out, out, blocks * DRNG_AES_BLOCK);
}

static enum drng_status ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    uint8_t first[DRNG_AES_BLOCK];
    memcpy(first, v, sizeof(first));
    add(first, 1);

    const EVP_CIPHER *cipher = drng_libcrypto_aes_ctr(key_len);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const bool done = cipher != NULL && ctx != NULL && EVP_EncryptInit_ex(ctx, cipher, NULL, key, first) == 1 &&
                      keystream(ctx, out, out_blocks) && keystream(ctx, tail, tail_blocks);
    EVP_CIPHER_CTX_free(ctx);
    if (!done) {
        return DRNG_LIBCRYPTO_FAILED;
    }
    add(v, out_blocks + tail_blocks);
    return DRNG_OK;
}

/* A block at a time: what is thrown away needs no more room than that, and this way is not a fast one anyway. */
static bool cbc_blocks(EVP_CIPHER_CTX *ctx, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out, const uint8_t *in,
                       size_t blocks)
{
    static const uint8_t zeros[DRNG_AES_BLOCK];
    for (size_t i = 0; i < blocks; i++) {
        if (!encrypt(ctx, chain, in != NULL ? in + i * DRNG_AES_BLOCK : zeros, DRNG_AES_BLOCK)) {
            return false;
        }
        if (out != NULL) {
            memcpy(out + i * DRNG_AES_BLOCK, chain, DRNG_AES_BLOCK);
        }
    }
    return true;
}

static enum drng_status cbc(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out,
                            const uint8_t *in, size_t blocks)
{
    const EVP_CIPHER *cipher = drng_libcrypto_aes_cbc(key_len);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const bool done = cipher != NULL && ctx != NULL && EVP_EncryptInit_ex(ctx, cipher, NULL, key, chain) == 1 &&
                      EVP_CIPHER_CTX_set_padding(ctx, 0) == 1 && cbc_blocks(ctx, chain, out, in, blocks);
    EVP_CIPHER_CTX_free(ctx);
    return done ? DRNG_OK : DRNG_LIBCRYPTO_FAILED;
}

const struct drng_aes drng_aes_evp = {.name = "libcrypto", .ctr = ctr, .cbc = cbc};
