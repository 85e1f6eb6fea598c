/* SPDX-License-Identifier: Apache-2.0 */
/* Both conditioners: what they make of words, and what they leave behind. */

#include <stdlib.h>
#include <string.h>

#include "mixing/drbg/self_test.h"
#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/hmac.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { WORDS = 8, WORDS_LEN = 8 * WORDS };

static const enum drng_conditioner_kind kinds[] = {DRNG_CBC_MAC, DRNG_HMAC_SHA256};
static const struct drng_aes *aes;

static uint8_t key[DRNG_CONDITIONER_KEY_LEN];
static uint64_t words[WORDS];

static void set_up(void)
{
    uint64_t state = 21;
    bytes_random(&state, key, sizeof(key));
    bytes_random(&state, words, sizeof(words));
}

static void condition(enum drng_conditioner_kind kind, uint8_t out[DRNG_CONDITIONED_LEN])
{
    struct drng_conditioner c;
    drng_conditioner_begin(&c, kind, aes, key);
    drng_conditioner_update(&c, words, sizeof(words));
    drng_conditioner_end(&c, out);
    CU_ASSERT_TRUE(bytes_are(&c, sizeof(c), 0));
}

UNIT_TEST("CBC-MAC is that of the words")
{
    uint8_t mac[DRNG_MAC_LEN] = {0};
    uint8_t out[DRNG_CONDITIONED_LEN];
    set_up();
    condition(DRNG_CBC_MAC, out);
    drng_aes_portable.cbc(key, sizeof(key), mac, NULL, (const uint8_t *)words, sizeof(words) / DRNG_MAC_LEN);
    CU_ASSERT_EQUAL(memcmp(out, mac, sizeof(out)), 0);
}

/* Under a zero IV, a first block of plaintext XOR IV gives what F.2.1 gives under its IV. */
UNIT_TEST("SP 800-38A with its IV in the first block is met")
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    uint8_t iv[DRNG_MAC_LEN];
    uint8_t data[4 * DRNG_MAC_LEN];
    uint8_t expected[DRNG_MAC_LEN];
    uint8_t out[DRNG_CONDITIONED_LEN];
    bytes_from_hex("2b7e151628aed2a6abf7158809cf4f3c", key, DRNG_MAC_KEY_LEN);
    bytes_from_hex("000102030405060708090a0b0c0d0e0f", iv, sizeof(iv));
    bytes_from_hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                   "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
                   data, sizeof(data));
    bytes_from_hex("3ff1caa1681fac09120eca307586e1a7", expected, sizeof(expected));
    for (size_t i = 0; i < sizeof(iv); i++) {
        data[i] ^= iv[i];
    }
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    for (size_t i = 0; i < count; i++) {
        for (size_t piece = DRNG_MAC_LEN; piece <= sizeof(data); piece *= 2) {
            struct drng_conditioner mac;
            drng_conditioner_begin(&mac, DRNG_CBC_MAC, all[i], key);
            for (size_t at = 0; at < sizeof(data); at += piece) {
                drng_conditioner_update(&mac, data + at, piece);
            }
            drng_conditioner_update(&mac, data, 0);
            drng_conditioner_end(&mac, out);
            CU_ASSERT_EQUAL(memcmp(out, expected, sizeof(out)), 0);
        }
    }
}

UNIT_TEST("HMAC is that of the words, cut to 128 bits")
{
    struct drng_hmac hmac;
    uint8_t digest[DRNG_HMAC_LEN];
    uint8_t out[DRNG_CONDITIONED_LEN + 1] = {0};
    set_up();
    condition(DRNG_HMAC_SHA256, out);
    drng_hmac_begin(&hmac, key, sizeof(key));
    drng_hmac_update(&hmac, words, sizeof(words));
    drng_hmac_end(&hmac, digest);
    CU_ASSERT_EQUAL(memcmp(out, digest, DRNG_CONDITIONED_LEN), 0);
    /* Not a byte more of the digest. */
    CU_ASSERT_EQUAL(out[DRNG_CONDITIONED_LEN], 0);
}

UNIT_TEST("pieces give what the whole gives")
{
    set_up();
    for (size_t i = 0; i < 2; i++) {
        struct drng_conditioner c;
        uint8_t whole[DRNG_CONDITIONED_LEN];
        uint8_t out[DRNG_CONDITIONED_LEN];
        condition(kinds[i], whole);
        drng_conditioner_begin(&c, kinds[i], aes, key);
        drng_conditioner_update(&c, words, 16);
        drng_conditioner_update(&c, words + 2, WORDS_LEN - 16);
        drng_conditioner_end(&c, out);
        CU_ASSERT_EQUAL(memcmp(out, whole, sizeof(out)), 0);
    }
}

UNIT_TEST("the two kinds differ")
{
    uint8_t cbc_mac[DRNG_CONDITIONED_LEN];
    uint8_t hmac[DRNG_CONDITIONED_LEN];
    set_up();
    condition(DRNG_CBC_MAC, cbc_mac);
    condition(DRNG_HMAC_SHA256, hmac);
    CU_ASSERT_NOT_EQUAL(memcmp(cbc_mac, hmac, sizeof(hmac)), 0);
}

UNIT_TEST("words, their order and the key count")
{
    for (size_t i = 0; i < 2; i++) {
        uint8_t out[DRNG_CONDITIONED_LEN];
        uint8_t other[DRNG_CONDITIONED_LEN];
        set_up();
        condition(kinds[i], out);
        for (size_t j = 0; j < WORDS; j++) {
            words[j] ^= UINT64_C(1) << 63;
            condition(kinds[i], other);
            CU_ASSERT_NOT_EQUAL(memcmp(out, other, sizeof(out)), 0);
            words[j] ^= UINT64_C(1) << 63;
        }
        const uint64_t first = words[0];
        words[0] = words[1];
        words[1] = first;
        condition(kinds[i], other);
        CU_ASSERT_NOT_EQUAL(memcmp(out, other, sizeof(out)), 0);
        set_up();
        key[0] ^= 1;
        condition(kinds[i], other);
        CU_ASSERT_NOT_EQUAL(memcmp(out, other, sizeof(out)), 0);
    }
}

int main(void)
{
    const char *failed = NULL;
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    aes = drng_self_test_choose(&cpu, &failed);
    return unit_run("conditioner");
}
