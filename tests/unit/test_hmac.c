/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC-SHA-256: RFC 4231's answers, and libcrypto's. */

#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "mixing/entropy/hmac.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { MAX_KEY = 64, MAX_DATA = 50 };

/* RFC 4231, 4.2 to 4.6: the other keys are longer than a block. A key or data of one byte over and over is given as
 * that byte and a length. */
static const struct {
    const char *key; /* hexadecimal; NULL: key_len times key_byte */
    size_t key_len;
    uint8_t key_byte;
    const char *data; /* text; NULL: data_len times data_byte */
    size_t data_len;
    uint8_t data_byte;
    const char *digest;
    size_t digest_len; /* 16 where the RFC truncates */
} known[] = {
    {NULL, 20, 0x0b, "Hi There", 8, 0, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", 32},
    {"4a656665", 4, 0, "what do ya want for nothing?", 28, 0,
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", 32},
    {NULL, 20, 0xaa, NULL, 50, 0xdd, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe", 32},
    {"0102030405060708090a0b0c0d0e0f10111213141516171819", 25, 0, NULL, 50, 0xcd,
     "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b", 32},
    {NULL, 20, 0x0c, "Test With Truncation", 20, 0, "a3b6167473100ee06e0c796c2955552b", 16},
};
enum { KNOWN = sizeof(known) / sizeof(*known) };

/* Known answer i, its data in pieces of this length. */
static bool known_answer_is_met(size_t i, size_t piece)
{
    uint8_t key[MAX_KEY];
    uint8_t data[MAX_DATA];
    uint8_t expected[DRNG_HMAC_LEN];
    uint8_t digest[DRNG_HMAC_LEN] = {0};
    struct drng_hmac hmac;

    memset(key, known[i].key_byte, sizeof(key));
    memset(data, known[i].data_byte, sizeof(data));
    if (known[i].key != NULL) {
        bytes_from_hex(known[i].key, key, known[i].key_len);
    }
    if (known[i].data != NULL) {
        CU_ASSERT_EQUAL_FATAL(strlen(known[i].data), known[i].data_len);
        memcpy(data, known[i].data, known[i].data_len);
    }
    bytes_from_hex(known[i].digest, expected, known[i].digest_len);

    drng_hmac_begin(&hmac, key, known[i].key_len);
    for (size_t at = 0; at < known[i].data_len; at += piece) {
        const size_t len = piece < known[i].data_len - at ? piece : known[i].data_len - at;
        drng_hmac_update(&hmac, data + at, len);
    }
    drng_hmac_end(&hmac, digest);
    return memcmp(digest, expected, known[i].digest_len) == 0;
}

UNIT_TEST("RFC 4231 is met in one update")
{
    for (size_t i = 0; i < KNOWN; i++) {
        CU_ASSERT_TRUE(known_answer_is_met(i, MAX_DATA));
    }
}

UNIT_TEST("RFC 4231 is met byte by byte")
{
    for (size_t i = 0; i < KNOWN; i++) {
        CU_ASSERT_TRUE(known_answer_is_met(i, 1));
    }
}

static void digest_of(uint8_t key_byte, uint8_t data_byte, uint8_t digest[DRNG_HMAC_LEN])
{
    struct drng_hmac hmac;
    drng_hmac_begin(&hmac, &key_byte, 1);
    drng_hmac_update(&hmac, &data_byte, 1);
    drng_hmac_end(&hmac, digest);
}

UNIT_TEST("one bit of key or data gives another digest")
{
    uint8_t digest[DRNG_HMAC_LEN];
    uint8_t other[DRNG_HMAC_LEN];
    digest_of(1, 2, digest);
    digest_of(0, 2, other);
    CU_ASSERT_NOT_EQUAL(memcmp(digest, other, sizeof(digest)), 0);
    digest_of(1, 3, other);
    CU_ASSERT_NOT_EQUAL(memcmp(digest, other, sizeof(digest)), 0);
    digest_of(1, 2, other);
    CU_ASSERT_EQUAL(memcmp(digest, other, sizeof(digest)), 0);
}

/* Every length of the data, with keys shorter than a block and as long; in two pieces. */
UNIT_TEST("every length agrees with libcrypto")
{
    enum { LONGEST = 300 };
    static const size_t key_lens[] = {0, 1, 16, 31, 32, 63, MAX_KEY};
    uint8_t key[MAX_KEY];
    uint8_t data[LONGEST];
    unsigned wrong = 0;
    uint64_t state = 41;
    for (size_t len = 0; len <= LONGEST; len++) {
        for (size_t k = 0; k < sizeof(key_lens) / sizeof(*key_lens); k++) {
            struct drng_hmac hmac;
            uint8_t digest[DRNG_HMAC_LEN];
            uint8_t expected[DRNG_HMAC_LEN];
            bytes_random(&state, key, sizeof(key));
            bytes_random(&state, data, sizeof(data));
            CU_ASSERT_PTR_NOT_NULL_FATAL(HMAC(EVP_sha256(), key, (int)key_lens[k], data, len, expected, NULL));
            drng_hmac_begin(&hmac, key, key_lens[k]);
            drng_hmac_update(&hmac, data, len / 3);
            drng_hmac_update(&hmac, data + len / 3, len - len / 3);
            drng_hmac_end(&hmac, digest);
            wrong += memcmp(digest, expected, sizeof(digest)) != 0;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

UNIT_TEST("the end wipes, and the key is not kept")
{
    static const uint8_t key[] = "a key that can be searched for..";
    struct drng_hmac hmac;
    uint8_t digest[DRNG_HMAC_LEN];
    memset(&hmac, 0xaa, sizeof(hmac));
    drng_hmac_begin(&hmac, key, DRNG_HMAC_LEN);
    drng_hmac_update(&hmac, "data", 4);
    for (size_t at = 0; at + 4 <= sizeof(hmac); at++) {
        const uint8_t *bytes = (const uint8_t *)&hmac + at;
        for (unsigned pad = 0; pad < 3; pad++) {
            static const uint8_t pads[] = {0, 0x36, 0x5c};
            CU_ASSERT_FALSE(bytes[0] == (key[4] ^ pads[pad]) && bytes[1] == (key[5] ^ pads[pad]) &&
                            bytes[2] == (key[6] ^ pads[pad]) && bytes[3] == (key[7] ^ pads[pad]));
        }
    }
    drng_hmac_end(&hmac, digest);
    CU_ASSERT_TRUE(bytes_are(&hmac, sizeof(hmac), 0));
}

UNIT_MAIN("HMAC-SHA-256")
