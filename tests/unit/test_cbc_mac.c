/* SPDX-License-Identifier: Apache-2.0 */
/* AES-128-CBC-MAC, with every AES that this CPU can run. */

#include <stdlib.h>
#include <string.h>

#include "mixing/aes/aes.h"
#include "mixing/entropy/conditioner.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { BLOCKS = 12, MESSAGE_LEN = BLOCKS * DRNG_MAC_LEN };

static const struct drng_aes *all[DRNG_AES_KINDS];
static size_t count;

static uint8_t message[MESSAGE_LEN];
static uint8_t key[DRNG_MAC_KEY_LEN];

static void mac_of(const struct drng_aes *aes, const uint8_t *data, size_t blocks, uint8_t out[DRNG_MAC_LEN])
{
    struct drng_conditioner mac;
    drng_conditioner_begin(&mac, DRNG_CBC_MAC, aes, key);
    drng_conditioner_update(&mac, data, blocks * DRNG_MAC_LEN);
    drng_conditioner_end(&mac, out);
}

static void set_up(void)
{
    uint64_t state = 11;
    bytes_random(&state, message, sizeof(message));
    bytes_random(&state, key, sizeof(key));
}

/* Under a zero IV, a first block of plaintext XOR IV gives what F.2.1 gives under its IV. */
UNIT_TEST("SP 800-38A with its IV in the first block is met")
{
    uint8_t iv[DRNG_MAC_LEN];
    uint8_t data[4 * DRNG_MAC_LEN];
    uint8_t expected[DRNG_MAC_LEN];
    uint8_t out[DRNG_MAC_LEN];
    bytes_from_hex("2b7e151628aed2a6abf7158809cf4f3c", key, sizeof(key));
    bytes_from_hex("000102030405060708090a0b0c0d0e0f", iv, sizeof(iv));
    bytes_from_hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                   "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
                   data, sizeof(data));
    bytes_from_hex("3ff1caa1681fac09120eca307586e1a7", expected, sizeof(expected));
    for (size_t i = 0; i < sizeof(iv); i++) {
        data[i] ^= iv[i];
    }
    for (size_t i = 0; i < count; i++) {
        mac_of(all[i], data, 4, out);
        CU_ASSERT_EQUAL(memcmp(out, expected, sizeof(out)), 0);
    }
}

UNIT_TEST("pieces give what the whole gives")
{
    set_up();
    for (size_t i = 0; i < count; i++) {
        uint8_t whole[DRNG_MAC_LEN];
        mac_of(all[i], message, BLOCKS, whole);
        for (size_t piece = 1; piece <= BLOCKS; piece++) {
            struct drng_conditioner mac;
            drng_conditioner_begin(&mac, DRNG_CBC_MAC, all[i], key);
            for (size_t at = 0; at < BLOCKS; at += piece) {
                const size_t blocks = piece < BLOCKS - at ? piece : BLOCKS - at;
                drng_conditioner_update(&mac, message + at * DRNG_MAC_LEN, blocks * DRNG_MAC_LEN);
            }
            CU_ASSERT_EQUAL(memcmp(mac.cbc_mac.state, whole, sizeof(whole)), 0);
        }
    }
}

UNIT_TEST("nothing taken in changes nothing")
{
    struct drng_conditioner mac;
    set_up();
    drng_conditioner_begin(&mac, DRNG_CBC_MAC, all[0], key);
    CU_ASSERT_TRUE(bytes_are(mac.cbc_mac.state, DRNG_MAC_LEN, 0));
    drng_conditioner_update(&mac, message, 0);
    CU_ASSERT_TRUE(bytes_are(mac.cbc_mac.state, DRNG_MAC_LEN, 0));
}

UNIT_TEST("another key gives another MAC")
{
    uint8_t mac[DRNG_MAC_LEN];
    uint8_t other[DRNG_MAC_LEN];
    set_up();
    for (size_t i = 0; i < count; i++) {
        mac_of(all[i], message, BLOCKS, mac);
        key[DRNG_MAC_KEY_LEN - 1] ^= 1;
        mac_of(all[i], message, BLOCKS, other);
        CU_ASSERT_NOT_EQUAL(memcmp(mac, other, sizeof(mac)), 0);
    }
}

UNIT_TEST("every bit of the message counts")
{
    uint8_t mac[DRNG_MAC_LEN];
    uint8_t other[DRNG_MAC_LEN];
    set_up();
    const struct drng_aes *aes = all[count - 1];
    mac_of(aes, message, BLOCKS, mac);
    for (size_t bit = 0; bit < MESSAGE_LEN * 8; bit++) {
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        mac_of(aes, message, BLOCKS, other);
        CU_ASSERT_NOT_EQUAL(memcmp(mac, other, sizeof(mac)), 0);
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    mac_of(aes, message, BLOCKS, other);
    CU_ASSERT_EQUAL(memcmp(mac, other, sizeof(mac)), 0);
}

int main(void)
{
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    count = drng_aes_all(&cpu, all);
    return unit_run("CBC-MAC");
}
