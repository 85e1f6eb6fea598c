/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of generators: libcrypto's own three, foreign parents and foreign children. */

#include <stdio.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "tests/provider/evp.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

static const char ours[] = "provider=drng";
static const char theirs[] = "provider=default";

static OSSL_LIB_CTX *libctx;

static bool draws(EVP_RAND_CTX *rand)
{
    unsigned char out[64] = {0};
    return EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0) == 1 && !bytes_are(out, sizeof(out), 0);
}

UNIT_TEST("libcrypto's three are ours")
{
    unsigned char out[32];
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    CU_ASSERT_EQUAL(RAND_priv_bytes_ex(libctx, out, sizeof(out), 256), 1);
    EVP_RAND_CTX *three[] = {RAND_get0_primary(libctx), RAND_get0_public(libctx), RAND_get0_private(libctx)};
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_STRING_EQUAL(evp_server(three[i]), "drng");
        CU_ASSERT_EQUAL(EVP_RAND_get_state(three[i]), EVP_RAND_STATE_READY);
        CU_ASSERT_STRING_EQUAL(EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(three[i])), "CTR-DRBG");
    }
    CU_ASSERT_EQUAL(evp_size(three[0], OSSL_DRBG_PARAM_RESEED_REQUESTS), 256);
    CU_ASSERT_EQUAL(evp_size(three[1], OSSL_DRBG_PARAM_RESEED_REQUESTS), 65536);
    CU_ASSERT_EQUAL(evp_size(three[2], OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL), 420);
}

static uint64_t seeds(void)
{
    return evp_hardware_seeds(libctx) + evp_counter(libctx, "seeds-fallback");
}

UNIT_TEST("a seed of the primary is counted")
{
    const uint64_t before = seeds();
    CU_ASSERT_EQUAL(EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(seeds(), before + 1);
}

UNIT_TEST("RAND_add reaches all three")
{
    static const unsigned char noise[300] = {1, 2, 3};
    unsigned char out[16];
    EVP_RAND_CTX *primary = RAND_get0_primary(libctx);
    EVP_RAND_CTX *public = RAND_get0_public(libctx);
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    const size_t before = evp_size(primary, OSSL_DRBG_PARAM_RESEED_COUNTER);
    const size_t public_before = evp_size(public, OSSL_DRBG_PARAM_RESEED_COUNTER);
    /* What RAND_add() does in the default context. */
    CU_ASSERT_EQUAL(EVP_RAND_reseed(primary, 0, NULL, 0, noise, sizeof(noise)), 1);
    CU_ASSERT_EQUAL(RAND_bytes_ex(libctx, out, sizeof(out), 0), 1);
    CU_ASSERT_EQUAL(evp_size(primary, OSSL_DRBG_PARAM_RESEED_COUNTER), before + 1);
    CU_ASSERT_EQUAL(evp_size(public, OSSL_DRBG_PARAM_RESEED_COUNTER), public_before + 1);
}

/* Everything that libcrypto has and that takes a parent, under each of ours that can be one. */
UNIT_TEST("foreign children are seeded")
{
    const char *const parents[] = {"DRNG-SEED", "CTR-DRBG", evp_words_that_serve(libctx)};
    static const char *const children[] = {"HASH-DRBG", "HMAC-DRBG", "CTR-DRBG"};
    char digest[] = "SHA512";
    char cipher[] = "AES-256-CTR";
    char mac[] = "HMAC";
    for (size_t i = 0; i < 9 && parents[i / 3] != NULL; i++) {
        if (i == 6 && unit_emulated("a seed of the generator's thousands of words takes longer there than it may")) {
            break;
        }
        OSSL_PARAM params[4] = {OSSL_PARAM_construct_utf8_string(OSSL_ALG_PARAM_MAC, mac, 0),
                                OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_DIGEST, digest, 0),
                                OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                OSSL_PARAM_construct_end()};
        EVP_RAND_CTX *parent = evp_rand_ready(libctx, parents[i / 3], ours, NULL);
        CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(parent), 1);
        EVP_RAND_CTX *child = evp_rand(libctx, children[i % 3], theirs, parent);
        CU_ASSERT_PTR_NOT_NULL_FATAL(child);
        const uint64_t before = seeds();
        CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 256, 0, NULL, 0, params), 1);
        CU_ASSERT_TRUE(draws(child));
        CU_ASSERT_EQUAL(EVP_RAND_reseed(child, 1, NULL, 0, NULL, 0), 1);
        CU_ASSERT_TRUE(seeds() > before);
        CU_ASSERT_STRING_EQUAL(evp_server(child), "default");
        EVP_RAND_CTX_free(child);
        EVP_RAND_CTX_free(parent);
    }
    ERR_print_errors_fp(stderr);
}

/* A child that has not been told its cipher asks for nothing at all, which each of ours answers with the reason. */
UNIT_TEST("a seed of no length is refused")
{
    const char *const parents[] = {"DRNG-SEED", "CTR-DRBG", evp_words_name()};
    for (size_t i = 0; i < 3 && parents[i] != NULL; i++) {
        EVP_RAND_CTX *parent = evp_rand_ready(libctx, parents[i], ours, NULL);
        CU_ASSERT_EQUAL_FATAL(EVP_RAND_enable_locking(parent), 1);
        EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", theirs, parent);
        CU_ASSERT_NOT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 1);
        CU_ASSERT_TRUE(evp_error("no seed of such a length", "0 bits in 0 to "));
        EVP_RAND_CTX_free(child);
        EVP_RAND_CTX_free(parent);
    }
}

/* As libcrypto 3.0 chains them where a program asks for RAND_get0_primary() before openssl.cnf has been read. */
UNIT_TEST("under OpenSSL's seed source ours seeds, too")
{
    EVP_RAND_CTX *source = evp_rand_ready(libctx, "SEED-SRC", theirs, NULL);
    uint64_t before = seeds();
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", ours, source);
    CU_ASSERT_EQUAL(seeds(), before + 1);
    CU_ASSERT_TRUE(draws(rand));
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(seeds(), before + 2);
    CU_ASSERT_TRUE(draws(rand));
    EVP_RAND_CTX_free(rand);
    EVP_RAND_CTX_free(source);
}

/* Ours under libcrypto's DRBG: no seed comes from drng's own source then. */
UNIT_TEST("foreign parents seed ours")
{
    EVP_RAND_CTX *source = evp_rand_ready(libctx, "SEED-SRC", theirs, NULL);
    EVP_RAND_CTX *parent = evp_rand(libctx, "CTR-DRBG", theirs, source);
    char cipher[] = "AES-256-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_instantiate(parent, 0, 0, NULL, 0, params), 1);
    CU_ASSERT_EQUAL(EVP_RAND_enable_locking(parent), 1);

    const uint64_t before = seeds();
    EVP_RAND_CTX *under_drbg = evp_rand_ready(libctx, "CTR-DRBG", ours, parent);
    CU_ASSERT_TRUE(draws(under_drbg));
    const size_t counter = evp_size(under_drbg, OSSL_DRBG_PARAM_RESEED_COUNTER);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(parent, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_TRUE(draws(under_drbg));
    CU_ASSERT_EQUAL(evp_size(under_drbg, OSSL_DRBG_PARAM_RESEED_COUNTER), counter + 1);
    CU_ASSERT_EQUAL(seeds(), before);
    EVP_RAND_CTX_free(under_drbg);
    EVP_RAND_CTX_free(parent);
    EVP_RAND_CTX_free(source);
}

UNIT_TEST("a weak or empty parent is refused")
{
    unsigned strength = 128;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength),
                                 OSSL_PARAM_construct_end()};
    EVP_RAND_CTX *parent = evp_rand(libctx, "TEST-RAND", theirs, NULL);
    EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", ours, parent);
    CU_ASSERT_EQUAL_FATAL(EVP_RAND_instantiate(parent, 0, 0, NULL, 0, params), 1);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 0);
    CU_ASSERT_EQUAL(EVP_RAND_get_state(child), EVP_RAND_STATE_ERROR);
    CU_ASSERT_FALSE(draws(child));
    ERR_clear_error();

    /* Strong enough, but TEST-RAND has neither nonce nor entropy to give. */
    strength = 256;
    CU_ASSERT_EQUAL(EVP_RAND_CTX_set_params(parent, params), 1);
    CU_ASSERT_FALSE(draws(child));
    CU_ASSERT_TRUE(evp_error("gave no seed", "nonce"));

    /* All the entropy that is needed, and a nonce of a byte less than was asked for; then the whole nonce. */
    unsigned char bytes[64] = {1};
    OSSL_PARAM given[] = {OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_ENTROPY, bytes, sizeof(bytes)),
                          OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_NONCE, bytes, 15),
                          OSSL_PARAM_construct_end()};
    CU_ASSERT_EQUAL(EVP_RAND_CTX_set_params(parent, given), 1);
    (void)EVP_RAND_uninstantiate(child);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 0);
    CU_ASSERT_TRUE(evp_error("gave no seed", "its nonce has 15 bytes where 16 were asked for"));
    given[1] = OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_NONCE, bytes, 16);
    CU_ASSERT_EQUAL(EVP_RAND_CTX_set_params(parent, given), 1);
    (void)EVP_RAND_uninstantiate(child);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 1);
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(parent);
}

UNIT_TEST("a seed source takes no parent")
{
    EVP_RAND_CTX *parent = evp_rand_ready(libctx, "CTR-DRBG", ours, NULL);
    EVP_RAND *source = EVP_RAND_fetch(libctx, "DRNG-SEED", ours);
    CU_ASSERT_PTR_NULL(EVP_RAND_CTX_new(source, parent));
    CU_ASSERT_TRUE(evp_error("no parent", NULL));
    EVP_RAND_free(source);
    EVP_RAND_CTX_free(parent);
}

UNIT_TEST("a seed source seeds no generator before it is instantiated, and after it is not")
{
    EVP_RAND_CTX *source = evp_rand(libctx, "DRNG-SEED", ours, NULL);
    EVP_RAND_CTX *child = evp_rand(libctx, "CTR-DRBG", ours, source);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 0);
    CU_ASSERT_TRUE(evp_error("not instantiated", NULL));
    (void)EVP_RAND_uninstantiate(child);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(source, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(child, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(EVP_RAND_uninstantiate(source), 1);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(child, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(evp_error("not instantiated", NULL));
    CU_ASSERT_EQUAL(EVP_RAND_verify_zeroization(source), 1);
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(source);
}

UNIT_TEST("a seed source gives seeds and words")
{
    const char *const names[] = {"DRNG-SEED", evp_words_that_serve(libctx)};
    for (size_t i = 0; i < 2 && names[i] != NULL; i++) {
        unsigned char a[5000] = {0};
        unsigned char b[5000] = {0};
        EVP_RAND_CTX *rand = evp_rand(libctx, names[i], ours, NULL);
        CU_ASSERT_EQUAL(EVP_RAND_generate(rand, a, 64, 0, 0, NULL, 0), 0);
        CU_ASSERT_TRUE(evp_error("not instantiated", NULL));
        CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL), 1);
        const size_t len = i == 0 ? 100 : sizeof(a);
        CU_ASSERT_EQUAL(EVP_RAND_generate(rand, a, len, 0, 0, NULL, 0), 1);
        CU_ASSERT_EQUAL(EVP_RAND_generate(rand, b, len, 0, 0, NULL, 0), 1);
        CU_ASSERT_NOT_EQUAL(memcmp(a, b, len), 0);
        CU_ASSERT_FALSE(bytes_are(a + len - 16, 16, 0));
        CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, NULL, 0, NULL, 0), 1);
        const OSSL_PARAM *known = EVP_RAND_CTX_gettable_params(rand);
        CU_ASSERT_PTR_NOT_NULL_FATAL(known);
        CU_ASSERT_PTR_NOT_NULL(OSSL_PARAM_locate_const(known, OSSL_RAND_PARAM_MAX_REQUEST));
        CU_ASSERT_EQUAL(EVP_RAND_uninstantiate(rand), 1);
        CU_ASSERT_EQUAL(EVP_RAND_verify_zeroization(rand), 1);
        EVP_RAND_CTX_free(rand);
    }
}

UNIT_TEST("RDRAND serves as the sole generator")
{
    unsigned char out[32] = {0};
    char config[256];
    if (evp_words_that_serve(libctx) == NULL) {
        CU_PASS("a skip");
        return;
    }
    (void)snprintf(config, sizeof(config),
                   "openssl_conf = init\n[init]\nrandom = r\nproviders = p\n"
                   "[r]\nrandom = %s\nproperties = provider=drng\n[p]\ndrng = d\n[d]\nactivate = 1\n",
                   evp_words_name());
    OSSL_LIB_CTX *sole = evp_context_with(config);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sole);
    CU_ASSERT_EQUAL(RAND_bytes_ex(sole, out, sizeof(out), 256), 1);
    CU_ASSERT_FALSE(bytes_are(out, sizeof(out), 0));
    EVP_RAND_CTX *public = RAND_get0_public(sole);
    CU_ASSERT_STRING_EQUAL(EVP_RAND_get0_name(EVP_RAND_CTX_get0_rand(public)), evp_words_name());
    OSSL_LIB_CTX_free(sole);
}

int main(void)
{
    libctx = evp_context("");
    const int result = libctx == NULL ? 1 : unit_run("chains");
    OSSL_LIB_CTX_free(libctx);
    return result;
}
