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
        drng_cbc_mac_begin(&c->cbc_mac, aes, key);
    }
}

void drng_conditioner_update(struct drng_conditioner *c, const uint64_t *words, size_t count)
{
    const size_t len = count * sizeof(*words);
    if (c->kind == DRNG_HMAC_SHA256) {
        drng_hmac_update(&c->hmac, words, len);
    } else {
        drng_cbc_mac_update(&c->cbc_mac, (const uint8_t *)words, len / DRNG_MAC_LEN);
    }
}

static void end_hmac(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    uint8_t digest[DRNG_HMAC_LEN];
    drng_hmac_end(&c->hmac, digest);
    memcpy(out, digest, DRNG_CONDITIONED_LEN);
    drng_wipe(digest, sizeof(digest));
}

void drng_conditioner_end(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    if (c->kind == DRNG_HMAC_SHA256) {
        end_hmac(c, out);
    } else {
        memcpy(out, c->cbc_mac.state, DRNG_CONDITIONED_LEN);
    }
    drng_conditioner_drop(c);
}

void drng_conditioner_drop(struct drng_conditioner *c)
{
    drng_wipe(c, sizeof(*c));
}
