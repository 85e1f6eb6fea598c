/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256: the standard's examples, libcrypto's answers at every length, and every way to cut a message. */

#include <string.h>

#include <openssl/evp.h>

#include "mixing/entropy/hmac.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { LONGEST = 300, MILLION = 1000000 };

static uint8_t message[LONGEST];

static void set_up(uint64_t seed)
{
    uint64_t state = seed;
    bytes_random(&state, message, sizeof(message));
}

/* In two pieces, the first of `cut` bytes. */
static void hash_in_two(const uint8_t *data, size_t len, size_t cut, uint8_t digest[DRNG_SHA256_LEN])
{
    struct drng_sha256 sha;
    memset(&sha, 0xaa, sizeof(sha));
    drng_sha256_begin(&sha);
    drng_sha256_update(&sha, data, cut);
    drng_sha256_update(&sha, data + cut, len - cut);
    drng_sha256_end(&sha, digest);
    CU_ASSERT_TRUE(bytes_are(&sha, sizeof(sha), 0));
}

static void libcryptos(const uint8_t *data, size_t len, uint8_t digest[DRNG_SHA256_LEN])
{
    CU_ASSERT_EQUAL_FATAL(EVP_Digest(data, len, digest, NULL, EVP_sha256(), NULL), 1);
}

/* NIST's examples for FIPS 180-4, one block and two, and the first of CAVP's SHA256ShortMsg.rsp. */
UNIT_TEST("examples are met")
{
    static const struct {
        const char *message;
        const char *digest;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        uint8_t expected[DRNG_SHA256_LEN];
        uint8_t digest[DRNG_SHA256_LEN];
        bytes_from_hex(known[i].digest, expected, sizeof(expected));
        hash_in_two((const uint8_t *)known[i].message, strlen(known[i].message), 0, digest);
        CU_ASSERT_EQUAL(memcmp(digest, expected, sizeof(digest)), 0);
    }
}

/* The third of NIST's examples. */
UNIT_TEST("a million letters are met")
{
    struct drng_sha256 sha;
    uint8_t letters[LONGEST];
    uint8_t expected[DRNG_SHA256_LEN];
    uint8_t digest[DRNG_SHA256_LEN];
    memset(letters, 'a', sizeof(letters));
    drng_sha256_begin(&sha);
    for (size_t left = MILLION; left > 0;) {
        const size_t part = left < sizeof(letters) ? left : sizeof(letters);
        drng_sha256_update(&sha, letters, part);
        left -= part;
    }
    drng_sha256_end(&sha, digest);
    bytes_from_hex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", expected, sizeof(expected));
    CU_ASSERT_EQUAL(memcmp(digest, expected, sizeof(digest)), 0);
}

UNIT_TEST("every length and every cut agree")
{
    unsigned wrong = 0;
    for (size_t len = 0; len <= LONGEST; len++) {
        uint8_t expected[DRNG_SHA256_LEN];
        uint8_t digest[DRNG_SHA256_LEN];
        set_up(len + 1);
        libcryptos(message, len, expected);
        for (size_t cut = 0; cut <= len; cut++) {
            hash_in_two(message, len, cut, digest);
            wrong += memcmp(digest, expected, sizeof(digest)) != 0;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

UNIT_TEST("every bit of the message counts")
{
    uint8_t digest[DRNG_SHA256_LEN];
    uint8_t other[DRNG_SHA256_LEN];
    set_up(1);
    hash_in_two(message, sizeof(message), 0, digest);
    for (size_t bit = 0; bit < 8 * sizeof(message); bit++) {
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        hash_in_two(message, sizeof(message), 0, other);
        CU_ASSERT_NOT_EQUAL(memcmp(digest, other, sizeof(digest)), 0);
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

UNIT_MAIN("SHA-256")
