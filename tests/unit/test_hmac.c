/* HMAC-SHA-256 from libcrypto, and what is left when libcrypto fails. */

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "mixing/aes/libcrypto.h"
#include "mixing/entropy/hmac.h"
#include "tests/unit/bytes.h"
#include "tests/unit/memory.h"
#include "tests/unit/unit.h"

enum { MAX_KEY = 131, MAX_DATA = 152 };

/* RFC 4231, 4.2 to 4.8. A key or data of one byte over and over is given as that byte and a length. */
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
    {NULL, 131, 0xaa, "Test Using Larger Than Block-Size Key - Hash Key First", 54, 0,
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", 32},
    {NULL, 131, 0xaa,
     "This is a test using a larger than block-size key and a larger than block-size data. "
     "The key needs to be hashed before being used by the HMAC algorithm.",
     152, 0, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2", 32},
};
enum { KNOWN = sizeof(known) / sizeof(*known) };

/* Known answer i, its data in pieces of this length. */
static bool known_answer_is_met(size_t i, size_t piece)
{
    uint8_t key[MAX_KEY];
    uint8_t data[MAX_DATA];
    uint8_t expected[DRNG_HMAC_LEN];
    uint8_t digest[DRNG_HMAC_LEN] = {0};
    EVP_MAC_CTX *ctx = NULL;

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

    CU_ASSERT_EQUAL_FATAL(drng_hmac_begin(&ctx, key, known[i].key_len), DRNG_OK);
    for (size_t at = 0; at < known[i].data_len; at += piece) {
        const size_t len = piece < known[i].data_len - at ? piece : known[i].data_len - at;
        CU_ASSERT_EQUAL(drng_hmac_update(ctx, data + at, len), DRNG_OK);
    }
    CU_ASSERT_EQUAL(drng_hmac_end(ctx, digest), DRNG_OK);
    EVP_MAC_CTX_free(ctx);
    return memcmp(digest, expected, known[i].digest_len) == 0;
}

static void rfc_4231_is_met_in_one_update(void)
{
    for (size_t i = 0; i < KNOWN; i++) {
        CU_ASSERT_TRUE(known_answer_is_met(i, MAX_DATA));
    }
}

static void rfc_4231_is_met_byte_by_byte(void)
{
    for (size_t i = 0; i < KNOWN; i++) {
        CU_ASSERT_TRUE(known_answer_is_met(i, 1));
    }
}

static void digest_of(uint8_t key_byte, uint8_t data_byte, uint8_t digest[DRNG_HMAC_LEN])
{
    EVP_MAC_CTX *ctx = NULL;
    CU_ASSERT_EQUAL_FATAL(drng_hmac_begin(&ctx, &key_byte, 1), DRNG_OK);
    CU_ASSERT_EQUAL(drng_hmac_update(ctx, &data_byte, 1), DRNG_OK);
    CU_ASSERT_EQUAL(drng_hmac_end(ctx, digest), DRNG_OK);
    EVP_MAC_CTX_free(ctx);
}

static void one_bit_of_key_or_data_gives_another_digest(void)
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

static void it_works_again_after_the_context_was_closed(void)
{
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_TRUE(known_answer_is_met(0, MAX_DATA));
        drng_libcrypto_close();
        drng_libcrypto_close();
    }
    CU_ASSERT_TRUE(known_answer_is_met(0, MAX_DATA));
}

static void begin_fails_without_memory_for_the_context(void)
{
    EVP_MAC_CTX *ctx = (EVP_MAC_CTX *)&ctx;
    drng_libcrypto_close();
    memory_fail(true);
    CU_ASSERT_EQUAL(drng_hmac_begin(&ctx, (const uint8_t *)"key", 3), DRNG_LIBCRYPTO_FAILED);
    CU_ASSERT_PTR_NULL(ctx);
    memory_fail(false);
    CU_ASSERT_TRUE(known_answer_is_met(0, MAX_DATA));
}

/* Whichever allocation is the first to fail. */
static void begin_fails_without_memory_for_the_mac(void)
{
    unsigned allocations = 0;
    CU_ASSERT_TRUE(known_answer_is_met(0, MAX_DATA));
    for (enum drng_result status = DRNG_LIBCRYPTO_FAILED; status != DRNG_OK; allocations++) {
        EVP_MAC_CTX *ctx = (EVP_MAC_CTX *)&ctx;
        memory_fail_after(allocations);
        status = drng_hmac_begin(&ctx, (const uint8_t *)"key", 3);
        memory_fail(false);
        CU_ASSERT_EQUAL(ctx != NULL, status == DRNG_OK);
        CU_ASSERT_TRUE(status == DRNG_OK || status == DRNG_LIBCRYPTO_FAILED);
        EVP_MAC_CTX_free(ctx);
    }
    CU_ASSERT_TRUE(allocations > 2);
    CU_ASSERT_TRUE(known_answer_is_met(0, MAX_DATA));
}

/* A context that was never begun is the one failure that update and end can be brought to. */
static void update_and_end_fail_on_a_context_never_begun(void)
{
    uint8_t digest[DRNG_HMAC_LEN];
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(drng_libcrypto_hmac());
    CU_ASSERT_PTR_NOT_NULL_FATAL(ctx);
    memset(digest, 0xaa, sizeof(digest));
    CU_ASSERT_EQUAL(drng_hmac_update(ctx, "data", 4), DRNG_LIBCRYPTO_FAILED);
    CU_ASSERT_EQUAL(drng_hmac_end(ctx, digest), DRNG_LIBCRYPTO_FAILED);
    CU_ASSERT_TRUE(bytes_are(digest, sizeof(digest), 0));
    EVP_MAC_CTX_free(ctx);
}

static const struct unit_test tests[] = {
    {"RFC 4231 is met in one update", rfc_4231_is_met_in_one_update},
    {"RFC 4231 is met byte by byte", rfc_4231_is_met_byte_by_byte},
    {"one bit of key or data gives another digest", one_bit_of_key_or_data_gives_another_digest},
    {"it works again after the context was closed", it_works_again_after_the_context_was_closed},
    {"begin fails without memory for the context", begin_fails_without_memory_for_the_context},
    {"begin fails without memory for the MAC", begin_fails_without_memory_for_the_mac},
    {"update and end fail on a context never begun", update_and_end_fail_on_a_context_never_begun},
};

int main(void)
{
    if (!memory_install()) {
        return EXIT_FAILURE;
    }
    const int result = unit_run("HMAC-SHA-256", tests, sizeof(tests) / sizeof(*tests));
    drng_libcrypto_close();
    return result;
}
