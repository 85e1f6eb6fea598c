#include "mixing/entropy/hmac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "mixing/aes/libcrypto.h"
#include "mixing/memory/wipe.h"

enum drng_result drng_hmac_begin(EVP_MAC_CTX **ctx, const uint8_t *key, size_t key_len)
{
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                 OSSL_PARAM_construct_end()};
    EVP_MAC *mac = drng_libcrypto_hmac();

    *ctx = mac != NULL ? EVP_MAC_CTX_new(mac) : NULL;
    if (*ctx == NULL || EVP_MAC_init(*ctx, key, key_len, params) != 1) {
        EVP_MAC_CTX_free(*ctx);
        *ctx = NULL;
        return DRNG_LIBCRYPTO_FAILED;
    }
    return DRNG_OK;
}

enum drng_result drng_hmac_update(EVP_MAC_CTX *ctx, const void *data, size_t len)
{
    return EVP_MAC_update(ctx, data, len) == 1 ? DRNG_OK : DRNG_LIBCRYPTO_FAILED;
}

enum drng_result drng_hmac_end(EVP_MAC_CTX *ctx, uint8_t digest[DRNG_HMAC_LEN])
{
    size_t len = 0;
    if (EVP_MAC_final(ctx, digest, &len, DRNG_HMAC_LEN) != 1 || len != DRNG_HMAC_LEN) {
        drng_wipe(digest, DRNG_HMAC_LEN);
        return DRNG_LIBCRYPTO_FAILED;
    }
    return DRNG_OK;
}
