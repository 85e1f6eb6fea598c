#include "mixing/entropy/cbc_mac.h"

#include <string.h>

#include "mixing/aes/aes.h"

void drng_cbc_mac_begin(struct drng_cbc_mac *mac, const struct drng_aes *aes, const uint8_t key[DRNG_MAC_KEY_LEN])
{
    memset(mac->state, 0, sizeof(mac->state));
    memcpy(mac->key, key, sizeof(mac->key));
    mac->aes = aes;
}

void drng_cbc_mac_update(struct drng_cbc_mac *mac, const uint8_t *data, size_t blocks)
{
    mac->aes->cbc(mac->key, sizeof(mac->key), mac->state, NULL, data, blocks);
}
