#include "mixing/entropy/conditioner.h"

#include <string.h>

#include "mixing/memory/wipe.h"

void drng_conditioner_begin(struct drng_conditioner *c, enum drng_conditioner_kind kind, const struct drng_aes *aes,
                            const uint8_t key[DRNG_CONDITIONER_KEY_LEN])
{
    c->kind = kind;
    if (kind == DRNG_HMAC_SHA256) {
        drng_hmac_begin(&c->hmac, key, DRNG_CONDITIONER_KEY_LEN);
    } else {
        memset(c->cbc_mac.state, 0, sizeof(c->cbc_mac.state));
        memcpy(c->cbc_mac.key, key, sizeof(c->cbc_mac.key));
        c->cbc_mac.aes = aes;
    }
}

void drng_conditioner_update(struct drng_conditioner *c, const void *data, size_t len)
{
    if (c->kind == DRNG_HMAC_SHA256) {
        drng_hmac_update(&c->hmac, data, len);
    } else {
        c->cbc_mac.aes->cbc(c->cbc_mac.key, sizeof(c->cbc_mac.key), c->cbc_mac.state, NULL, data, len / DRNG_MAC_LEN);
    }
}

void drng_conditioner_end(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    uint8_t digest[DRNG_HMAC_LEN];
    if (c->kind == DRNG_HMAC_SHA256) {
        drng_hmac_end(&c->hmac, digest);
        memcpy(out, digest, DRNG_CONDITIONED_LEN);
        drng_wipe(digest, sizeof(digest));
    } else {
        memcpy(out, c->cbc_mac.state, DRNG_CONDITIONED_LEN);
    }
    drng_wipe(c, sizeof(*c));
}
