/* SPDX-License-Identifier: Apache-2.0 */
/* A self-test that fails at run time: nothing of the provider serves any more, and it does not load again. */

#include <string.h>

#include <openssl/core_names.h>

#include "mixing/drbg/self_test.h"
#include "provider/process.h"
#include "tests/provider/evp.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

/* Linked with --wrap. */
enum drng_result __real_drng_self_test(const struct drng_aes *aes, size_t key_len, bool with_hmac, const char **what);

static bool broken;

enum drng_result __wrap_drng_self_test(const struct drng_aes *aes, size_t key_len, bool with_hmac, const char **what)
{
    if (broken) {
        *what = "AES";
        return DRNG_SELF_TEST_FAILED;
    }
    return __real_drng_self_test(aes, key_len, with_hmac, what);
}

static void refuses(EVP_RAND_CTX *rand)
{
    unsigned char out[32];
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_TRUE(evp_error("self-test", NULL));
    CU_ASSERT_EQUAL(EVP_RAND_reseed(rand, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(evp_error("self-test", NULL));
}

static int status_of(OSSL_PROVIDER *provider)
{
    int status = -1;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_PROV_PARAM_STATUS, &status), OSSL_PARAM_construct_end()};
    CU_ASSERT_EQUAL(OSSL_PROVIDER_get_params(provider, params), 1);
    return status;
}

UNIT_TEST("after a failed self-test nothing serves")
{
    const char *const names[] = {"CTR-DRBG", "DRNG-SEED", evp_words_name()};
    const int count = names[2] != NULL ? 3 : 2;
    EVP_RAND_CTX *rand[3];
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    for (int i = 0; i < count; i++) {
        rand[i] = evp_rand_ready(libctx, names[i], "provider=drng", NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(rand[i]);
    }
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 1);
    CU_ASSERT_EQUAL(status_of(provider), 1);

    broken = true;
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 0);
    CU_ASSERT_TRUE(evp_error("self-test", "AES"));
    CU_ASSERT_EQUAL(status_of(provider), 0);
    CU_ASSERT_STRING_EQUAL(evp_text(libctx, "active-source"), "none");
    for (int i = 0; i < count; i++) {
        refuses(rand[i]);
    }
    EVP_RAND_CTX *late = evp_rand(libctx, "CTR-DRBG", "provider=drng", NULL);
    CU_ASSERT_EQUAL(EVP_RAND_instantiate(late, 0, 0, NULL, 0, NULL), 0);
    EVP_RAND_CTX_free(late);

    /* What failed once is not trusted again, whatever it answers now. */
    broken = false;
    CU_ASSERT_EQUAL(OSSL_PROVIDER_self_test(provider), 0);
    for (int i = 0; i < count; i++) {
        refuses(rand[i]);
        EVP_RAND_CTX_free(rand[i]);
    }
    OSSL_PROVIDER_unload(provider);
    OSSL_LIB_CTX_free(libctx);
}

/* libcrypto takes a provider that does not load for one that is not configured, so it is asked for by name. */
UNIT_TEST("it does not load again")
{
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    CU_ASSERT_FALSE_FATAL(drng_process_healthy());
    CU_ASSERT_TRUE_FATAL(evp_make_loadable(libctx));
    CU_ASSERT_PTR_NULL(OSSL_PROVIDER_load(libctx, "drng"));
    /* Reasons have texts only once a provider has loaded. */
    CU_ASSERT_TRUE(evp_error(NULL, "AES gave a wrong answer"));
    OSSL_LIB_CTX_free(libctx);
}

int main(void)
{
    evp_be_quiet();
    return unit_run("self-test");
}
