#include "mixing/entropy/conditioner.h"

#include <string.h>

#include <openssl/evp.h>

#include "mixing/entropy/hmac.h"
#include "mixing/memory/wipe.h"

enum drng_result drng_conditioner_begin(struct drng_conditioner *c, enum drng_conditioner_kind kind,
                                        const struct drng_aes *aes, const uint8_t key[DRNG_CONDITIONER_KEY_LEN])
{
    c->kind = kind;
    c->hmac = NULL;
    if (kind == DRNG_HMAC_SHA256) {
        return drng_hmac_begin(&c->hmac, key, DRNG_CONDITIONER_KEY_LEN);
    }
    drng_cbc_mac_begin(&c->cbc_mac, aes, key);
    return DRNG_OK;
}

enum drng_result drng_conditioner_update(struct drng_conditioner *c, const uint64_t *words, size_t count)
{
    const size_t len = count * sizeof(*words);
    if (c->kind == DRNG_HMAC_SHA256) {
        return drng_hmac_update(c->hmac, words, len);
    }
    return drng_cbc_mac_update(&c->cbc_mac, (const uint8_t *)words, len / DRNG_MAC_LEN);
}

static enum drng_result end_hmac(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    uint8_t digest[DRNG_HMAC_LEN] = {0};
    const enum drng_result status = drng_hmac_end(c->hmac, digest);
    memcpy(out, digest, DRNG_CONDITIONED_LEN);
    drng_wipe(digest, sizeof(digest));
    return status;
}

enum drng_result drng_conditioner_end(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    enum drng_result status = DRNG_OK;
    if (c->kind == DRNG_HMAC_SHA256) {
        status = end_hmac(c, out);
    } else {
        memcpy(out, c->cbc_mac.state, DRNG_CONDITIONED_LEN);
    }
    drng_conditioner_drop(c);
    return status;
}

void drng_conditioner_drop(struct drng_conditioner *c)
{
    EVP_MAC_CTX_free(c->hmac);
    drng_wipe(c, sizeof(*c));
}
