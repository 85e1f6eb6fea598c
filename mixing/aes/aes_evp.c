/* AES from libcrypto, for CPUs without AES-NI: libcrypto's portable AES is constant-time where it can be. */

#include <stdbool.h>
#include <string.h>

#include <openssl/evp.h>

#include "mixing/aes/aes.h"
#include "mixing/aes/libcrypto.h"

enum { STRETCH = 1 << 20 }; /* bytes in one call of EVP_EncryptUpdate(), whose lengths are ints */

/* v + 1, as a 128-bit big-endian number: V is secret, so all of it is gone through, wherever the carry ends. */
static void increment(uint8_t v[DRNG_AES_BLOCK])
{
    unsigned carry = 1;
    for (size_t i = DRNG_AES_BLOCK; i-- > 0; carry >>= 8) {
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

/* Counters, and then AES of them all. libcrypto's own CTR mode branches on the carry of its counter. */
static bool keystream(EVP_CIPHER_CTX *ctx, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        increment(v);
        memcpy(out + i * DRNG_AES_BLOCK, v, DRNG_AES_BLOCK);
    }
    return encrypt(ctx, out, out, blocks * DRNG_AES_BLOCK);
}

static enum drng_result ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    const EVP_CIPHER *cipher = drng_libcrypto_aes_ecb(key_len);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const bool done = cipher != NULL && ctx != NULL && EVP_EncryptInit_ex(ctx, cipher, NULL, key, NULL) == 1 &&
                      EVP_CIPHER_CTX_set_padding(ctx, 0) == 1 && keystream(ctx, v, out, out_blocks) &&
                      keystream(ctx, v, tail, tail_blocks);
    EVP_CIPHER_CTX_free(ctx);
    return done ? DRNG_OK : DRNG_LIBCRYPTO_FAILED;
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

static enum drng_result cbc(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out,
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
