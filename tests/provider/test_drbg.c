/* SPDX-License-Identifier: Apache-2.0 */
/* CTR-DRBG as an EVP_RAND: parameters, states, limits, errors. */

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "tests/provider/evp.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

static const char query[] = "provider=drng";

static OSSL_LIB_CTX *libctx;

static EVP_RAND_CTX *fresh_drbg(void)
{
    EVP_RAND_CTX *rand = evp_rand(libctx, "CTR-DRBG", query, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
    return rand;
}

static EVP_RAND_CTX *ready_drbg(void)
{
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", query, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rand);
    return rand;
}

static bool set_mechanism(EVP_RAND_CTX *rand, const char *cipher, int use_df)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "%s", cipher);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, name, 0),
                                 OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    return EVP_RAND_CTX_set_params(rand, params) == 1;
}

UNIT_TEST("every name reaches it")
{
    const char *const names[] = {"CTR-DRBG", "DRNG-CTR-DRBG", "DRNG-SEED", "SEED-SRC", evp_words_name()};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && names[i] != NULL; i++) {
        EVP_RAND_CTX *rand = evp_rand(libctx, names[i], query, NULL);
        CU_ASSERT_STRING_EQUAL(evp_server(rand), "drng");
        EVP_RAND_CTX_free(rand);
    }
}

/* SP 800-90A Rev. 1, Table 3, under libcrypto's names, for every mechanism. */
UNIT_TEST("parameters are those of Table 3")
{
    static const struct {
        const char *cipher;
        size_t key_len;
    } ciphers[] = {{"AES-128-CTR", 16}, {"aes-192-ctr", 24}, {"AES-256-CTR", 32}};
    EVP_RAND_CTX *rand = fresh_drbg();
    for (size_t i = 0; i < 3; i++) {
        const size_t key_len = ciphers[i].key_len;
        CU_ASSERT_TRUE(set_mechanism(rand, ciphers[i].cipher, 1));
        CU_ASSERT_EQUAL(EVP_RAND_get_strength(rand), 8 * key_len);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MIN_ENTROPYLEN), key_len);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MAX_ENTROPYLEN), INT32_MAX);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MIN_NONCELEN), key_len / 2);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MAX_NONCELEN), INT32_MAX);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MAX_PERSLEN), INT32_MAX);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MAX_ADINLEN), INT32_MAX);
        CU_ASSERT_TRUE(set_mechanism(rand, ciphers[i].cipher, 0));
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MIN_ENTROPYLEN), key_len + 16);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MAX_ENTROPYLEN), key_len + 16);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MIN_NONCELEN), 0);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MAX_PERSLEN), key_len + 16);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_MAX_ADINLEN), key_len + 16);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_RAND_PARAM_MAX_REQUEST), 65536);
    }
    EVP_RAND_CTX_free(rand);
}

/* Whatever the built-in generator of the same name can be asked or told, this one can, under the same type. */
UNIT_TEST("it has every parameter of the built-in")
{
    EVP_RAND *ours = EVP_RAND_fetch(libctx, "CTR-DRBG", query);
    EVP_RAND *theirs = EVP_RAND_fetch(libctx, "CTR-DRBG", "provider=default");
    const OSSL_PARAM *wanted[] = {EVP_RAND_gettable_ctx_params(theirs), EVP_RAND_settable_ctx_params(theirs)};
    const OSSL_PARAM *offered[] = {EVP_RAND_gettable_ctx_params(ours), EVP_RAND_settable_ctx_params(ours)};
    for (size_t i = 0; i < 2; i++) {
        unsigned count = 0;
        for (const OSSL_PARAM *p = wanted[i]; p->key != NULL; p++) {
            if (strcmp(p->key, "fips-indicator") == 0) {
                continue;
            }
            const OSSL_PARAM *q = OSSL_PARAM_locate_const(offered[i], p->key);
            CU_ASSERT_PTR_NOT_NULL(q);
            CU_ASSERT_TRUE(q != NULL && q->data_type == p->data_type);
            count++;
        }
        CU_ASSERT_TRUE(count >= 4);
    }
    EVP_RAND_free(ours);
    EVP_RAND_free(theirs);
}

UNIT_TEST("defaults are AES-256 with df")
{
    EVP_RAND_CTX *rand = fresh_drbg();
    char cipher[32] = "";
    int use_df = 0;
    unsigned requests = 0;
    time_t interval = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, sizeof(cipher)),
                           OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df),
                           OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
                           OSSL_PARAM_construct_time_t(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, &interval),
                           OSSL_PARAM_construct_end()};
    CU_ASSERT_EQUAL(EVP_RAND_CTX_get_params(rand, params), 1);
    CU_ASSERT_STRING_EQUAL(cipher, "AES-256-CTR");
    CU_ASSERT_EQUAL(use_df, 1);
    CU_ASSERT_EQUAL(requests, 256);
    CU_ASSERT_EQUAL(interval, 3600);
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("a cipher it does not have is an error")
{
    static const char *const others[] = {"AES-256-ECB", "ARIA-256-CTR", "CTR", "AES-512-CTR"};
    EVP_RAND_CTX *rand = fresh_drbg();
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_FALSE(set_mechanism(rand, others[i], 1));
        CU_ASSERT_TRUE(evp_error("cipher not supported", "AES-256-CTR"));
    }
    CU_ASSERT_EQUAL(EVP_RAND_get_strength(rand), 256);
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("it goes through the states")
{
    unsigned char out[16];
    EVP_RAND_CTX *rand = fresh_drbg();
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_UNINITIALISED);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 256, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_READY);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 256, 0, NULL, 0, NULL), 0);
    CU_ASSERT_TRUE(evp_error("already instantiated", NULL));
    CU_ASSERT_EQUAL(EVP_RAND_verify_zeroization(rand), 0);
    CU_ASSERT_EQUAL(EVP_RAND_uninstantiate(rand), 1);
    CU_ASSERT_EQUAL(EVP_RAND_verify_zeroization(rand), 1);
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_UNINITIALISED);
    /* Like libcrypto's own: a request brings it back by itself. */
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_READY);
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("a second instantiation changes nothing")
{
    char cipher[] = "AES-128-CTR";
    unsigned requests = 4;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                           OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
                           OSSL_PARAM_construct_end()};
    EVP_RAND_CTX *rand = ready_drbg();
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 128, 0, NULL, 0, params), 0);
    CU_ASSERT_TRUE(evp_error("already instantiated", NULL));
    CU_ASSERT_EQUAL(EVP_RAND_get_strength(rand), 256);
    CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_RESEED_REQUESTS), 256);
    CU_ASSERT_EQUAL(EVP_RAND_uninstantiate(rand), 1);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 128, 0, NULL, 0, params), 1);
    CU_ASSERT_EQUAL(EVP_RAND_get_strength(rand), 128);
    CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_RESEED_REQUESTS), 4);
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("another mechanism needs another seed")
{
    EVP_RAND_CTX *rand = ready_drbg();
    CU_ASSERT_TRUE(set_mechanism(rand, "AES-256-CTR", 1));
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_READY);
    CU_ASSERT_TRUE(set_mechanism(rand, "AES-128-CTR", 1));
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_UNINITIALISED);
    CU_ASSERT_EQUAL(EVP_RAND_verify_zeroization(rand), 1);
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("too much is refused and nothing put out")
{
    static unsigned char out[1 << 17];
    unsigned char input[64] = {0};
    EVP_RAND_CTX *rand = fresh_drbg();
    CU_ASSERT_TRUE(set_mechanism(rand, "AES-128-CTR", 0));
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 256, 0, NULL, 0, NULL), 0);
    CU_ASSERT_TRUE(evp_error("more strength", "128"));
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 128, 0, input, 33, NULL), 0);
    CU_ASSERT_TRUE(evp_error("too long", "max_perslen"));
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(rand, 128, 0, input, 32, NULL), 1);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, 32, 129, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, 32, 0) && out[32] == 0xaa);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, 32, 128, 0, input, 33), 0);
    CU_ASSERT_TRUE(bytes_are(out, 32, 0) && out[32] == 0xaa);
    /* EVP_RAND_generate() splits what is longer than max_request. */
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 128, 0, input, 32), 1);
    CU_ASSERT_FALSE(bytes_are(out + sizeof(out) - 32, 32, 0));
    ERR_clear_error();
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("reseed takes entropy of the right length")
{
    unsigned char entropy[48] = {1};
    unsigned char out[16];
    EVP_RAND_CTX *rand = ready_drbg();
    const size_t before = evp_size(rand, OSSL_DRBG_PARAM_RESEED_COUNTER);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, entropy, 32, NULL, 0), 1);
    CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_RESEED_COUNTER), before + 1);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, entropy, 31, NULL, 0), 0);
    CU_ASSERT_TRUE(evp_error("wrong length", NULL));
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_ERROR);
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(EVP_RAND_get_state(rand), EVP_RAND_STATE_READY);
    EVP_RAND_CTX_free(rand);
}

/* The same number of requests to a seed as libcrypto's own: `limit` - 1 beside the first. */
UNIT_TEST("seeds wear out")
{
    unsigned char out[16];
    EVP_RAND_CTX *rand = ready_drbg();
    CU_ASSERT_TRUE(evp_set_uint(rand, OSSL_DRBG_PARAM_RESEED_REQUESTS, 4));
    const size_t start = evp_size(rand, OSSL_DRBG_PARAM_RESEED_COUNTER);
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
        CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_RESEED_COUNTER), start);
    }
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(evp_size(rand, OSSL_DRBG_PARAM_RESEED_COUNTER), start + 1);
    EVP_RAND_CTX_free(rand);
}

static size_t reseeds_of(EVP_RAND_CTX *rand, size_t len)
{
    static unsigned char out[1 << 16];
    const size_t before = evp_size(rand, OSSL_DRBG_PARAM_RESEED_COUNTER);
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, len, 0, 0, NULL, 0), 1);
    return evp_size(rand, OSSL_DRBG_PARAM_RESEED_COUNTER) - before;
}

/* A long request is made in parts. */
UNIT_TEST("a seed gives no more bytes than reseed_bytes")
{
    EVP_RAND_CTX *rand = ready_drbg();
    CU_ASSERT_EQUAL(evp_size(rand, "reseed_bytes"), 0);
    CU_ASSERT_EQUAL(reseeds_of(rand, 1 << 16), 0);
    CU_ASSERT_TRUE(evp_set_uint(rand, "reseed_bytes", 1024));
    CU_ASSERT_EQUAL(evp_size(rand, "reseed_bytes"), 1024);
    CU_ASSERT_EQUAL(reseeds_of(rand, 1), 1);
    CU_ASSERT_EQUAL(reseeds_of(rand, 1023), 0);
    CU_ASSERT_EQUAL(reseeds_of(rand, 1), 1);
    CU_ASSERT_EQUAL(reseeds_of(rand, 1024), 1);
    CU_ASSERT_EQUAL(reseeds_of(rand, 1 << 16), 64);
    CU_ASSERT_FALSE(evp_set_uint(rand, "reseed_bytes", 1023));
    CU_ASSERT_TRUE(evp_error("out of its range", "EVP_RAND-DRNG(7)"));
    CU_ASSERT_EQUAL(evp_size(rand, "reseed_bytes"), 1024);
    EVP_RAND_CTX_free(rand);
}

/* Those of a parent are counted, too: each seed of a child is 48 bytes of it. */
UNIT_TEST("a child reseeds by its own count")
{
    OSSL_LIB_CTX *limited = evp_context("reseed_bytes = 1024\n");
    EVP_RAND_CTX *above = evp_rand_ready(limited, "CTR-DRBG", query, NULL);
    EVP_RAND_CTX *below = evp_rand_ready(limited, "CTR-DRBG", query, above);
    CU_ASSERT_EQUAL(evp_size(below, "reseed_bytes"), 1024);
    CU_ASSERT_TRUE(evp_set_uint(above, OSSL_DRBG_PARAM_RESEED_REQUESTS, 0));
    const size_t before = evp_size(above, OSSL_DRBG_PARAM_RESEED_COUNTER);
    CU_ASSERT_EQUAL(reseeds_of(below, 1 << 16), 63);
    CU_ASSERT_TRUE(evp_size(above, OSSL_DRBG_PARAM_RESEED_COUNTER) > before);
    EVP_RAND_CTX_free(below);
    EVP_RAND_CTX_free(above);
    OSSL_LIB_CTX_free(limited);
}

UNIT_TEST("the reseed time is now")
{
    const time_t before = time(NULL);
    EVP_RAND_CTX *rand = ready_drbg();
    const time_t seeded = (time_t)evp_size(rand, OSSL_DRBG_PARAM_RESEED_TIME);
    CU_ASSERT_TRUE(before <= seeded && seeded <= time(NULL));
    EVP_RAND_CTX_free(rand);
}

UNIT_TEST("prediction resistance reseeds the whole chain")
{
    unsigned char out[16];
    EVP_RAND_CTX *x = ready_drbg();
    EVP_RAND_CTX *y = evp_rand_ready(libctx, "CTR-DRBG", query, x);
    EVP_RAND_CTX *z = evp_rand_ready(libctx, "CTR-DRBG", query, y);
    const size_t cx = evp_size(x, OSSL_DRBG_PARAM_RESEED_COUNTER);
    const size_t cy = evp_size(y, OSSL_DRBG_PARAM_RESEED_COUNTER);
    const size_t cz = evp_size(z, OSSL_DRBG_PARAM_RESEED_COUNTER);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(z, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(evp_size(x, OSSL_DRBG_PARAM_RESEED_COUNTER), cx);
    CU_ASSERT_EQUAL(evp_size(y, OSSL_DRBG_PARAM_RESEED_COUNTER), cy);
    CU_ASSERT_EQUAL(evp_size(z, OSSL_DRBG_PARAM_RESEED_COUNTER), cz + 1);
    CU_ASSERT_EQUAL(EVP_RAND_generate(z, out, sizeof(out), 0, 1, NULL, 0), 1);
    CU_ASSERT_EQUAL(evp_size(x, OSSL_DRBG_PARAM_RESEED_COUNTER), cx + 1);
    CU_ASSERT_EQUAL(evp_size(y, OSSL_DRBG_PARAM_RESEED_COUNTER), cy + 1);
    CU_ASSERT_EQUAL(evp_size(z, OSSL_DRBG_PARAM_RESEED_COUNTER), cz + 2);
    EVP_RAND_CTX_free(z);
    EVP_RAND_CTX_free(y);
    EVP_RAND_CTX_free(x);
}

UNIT_TEST("a reseeded parent reseeds its children")
{
    unsigned char out[16];
    EVP_RAND_CTX *parent = ready_drbg();
    EVP_RAND_CTX *child = evp_rand_ready(libctx, "CTR-DRBG", query, parent);
    const size_t before = evp_size(child, OSSL_DRBG_PARAM_RESEED_COUNTER);
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(evp_size(child, OSSL_DRBG_PARAM_RESEED_COUNTER), before);
    CU_ASSERT_EQUAL(EVP_RAND_reseed(parent, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(EVP_RAND_generate(child, out, sizeof(out), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(evp_size(child, OSSL_DRBG_PARAM_RESEED_COUNTER), before + 1);
    EVP_RAND_CTX_free(child);
    EVP_RAND_CTX_free(parent);
}

UNIT_TEST("two instances give different bytes")
{
    unsigned char a[64];
    unsigned char b[64];
    EVP_RAND_CTX *x = ready_drbg();
    EVP_RAND_CTX *y = ready_drbg();
    CU_ASSERT_EQUAL(EVP_RAND_generate(x, a, sizeof(a), 0, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(EVP_RAND_generate(y, b, sizeof(b), 0, 0, NULL, 0), 1);
    CU_ASSERT_NOT_EQUAL(memcmp(a, b, sizeof(a)), 0);
    EVP_RAND_CTX_free(x);
    EVP_RAND_CTX_free(y);
}

UNIT_TEST("freeing nothing is safe")
{
    EVP_RAND_CTX_free(NULL);
    EVP_RAND_CTX *rand = fresh_drbg();
    CU_ASSERT_EQUAL(EVP_RAND_enable_locking(rand), 1);
    CU_ASSERT_EQUAL(EVP_RAND_enable_locking(rand), 1);
    EVP_RAND_CTX_free(rand);
}

int main(void)
{
    libctx = evp_context("");
    const int result = libctx == NULL ? 1 : unit_run("CTR-DRBG");
    OSSL_LIB_CTX_free(libctx);
    return result;
}
