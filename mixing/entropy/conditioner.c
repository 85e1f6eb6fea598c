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

static void update(struct drng_conditioner *c, const void *data, size_t len)
{
    if (c->kind == DRNG_HMAC_SHA256) {
        drng_hmac_update(&c->hmac, data, len);
    } else {
        drng_cbc_mac_update(&c->cbc_mac, data, len / DRNG_MAC_LEN);
    }
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
void drng_conditioner_update(struct drng_conditioner *c, const uint64_t *words, size_t count)
{
    update(c, words, count * sizeof(*words));
}
#else
void drng_conditioner_update(struct drng_conditioner *c, const uint64_t *words, size_t count)
{
    uint64_t reversed[DRNG_MAC_LEN / sizeof(*words)];
    for (size_t done = 0; done < count; done += sizeof(reversed) / sizeof(*reversed)) {
        for (size_t i = 0; i < sizeof(reversed) / sizeof(*reversed); i++) {
            reversed[i] = __builtin_bswap64(words[done + i]);
        }
        update(c, reversed, sizeof(reversed));
    }
    drng_wipe(reversed, sizeof(reversed));
}
#endif

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
