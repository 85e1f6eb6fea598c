/* SPDX-License-Identifier: Apache-2.0 */
/* The known answers of CAVP through EVP_RAND: CTR-DRBG under libcrypto's TEST-RAND. */

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "tests/programs/rsp.h"
#include "tests/provider/evp.h"
#include "tests/unit/unit.h"

enum { ANSWERS = 289 };

static OSSL_LIB_CTX *libctx;

/* What TEST-RAND hands to its child from now on. */
static bool give(EVP_RAND_CTX *parent, const struct rsp_bytes *entropy, const struct rsp_bytes *nonce)
{
    unsigned strength = 256;
    unsigned char e[RSP_MAX_LEN];
    unsigned char n[RSP_MAX_LEN];
    memcpy(e, entropy->data, entropy->len);
    OSSL_PARAM params[4] = {OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength),
                            OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_ENTROPY, e, entropy->len),
                            OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
    if (nonce != NULL) {
        memcpy(n, nonce->data, nonce->len);
        params[2] = OSSL_PARAM_construct_octet_string(OSSL_RAND_PARAM_TEST_NONCE, n, nonce->len);
    }
    return EVP_RAND_CTX_set_params(parent, params) == 1;
}

static bool set_mechanism(EVP_RAND_CTX *rand, const struct rsp_case *answer)
{
    char cipher[32];
    int use_df = answer->use_df;
    (void)snprintf(cipher, sizeof(cipher), "AES-%zu-CTR", 8 * answer->key_len);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    return EVP_RAND_CTX_set_params(rand, params) == 1;
}

static bool request(EVP_RAND_CTX *rand, EVP_RAND_CTX *parent, const struct rsp_case *answer,
                    const struct rsp_bytes *entropy, const struct rsp_bytes *additional, unsigned char *out)
{
    const bool pr = answer->prediction_resistance;
    return (!pr || give(parent, entropy, NULL)) &&
           EVP_RAND_generate(rand, out, answer->returned.len, 0, pr, additional->data, additional->len) == 1;
}

static bool run(EVP_RAND_CTX *rand, EVP_RAND_CTX *parent, const struct rsp_case *answer)
{
    unsigned char out[RSP_MAX_LEN];
    const struct rsp_bytes *p = &answer->personalization;
    if (!set_mechanism(rand, answer) || !give(parent, &answer->entropy, &answer->nonce) ||
        EVP_RAND_instantiate(rand, 0, 0, p->data, p->len, NULL) != 1) {
        return false;
    }
    if (answer->entropy_reseed.len > 0 &&
        (!give(parent, &answer->entropy_reseed, NULL) ||
         EVP_RAND_reseed(rand, 0, NULL, 0, answer->additional_reseed.data, answer->additional_reseed.len) != 1)) {
        return false;
    }
    return request(rand, parent, answer, &answer->entropy_pra, &answer->additional_a, out) &&
           request(rand, parent, answer, &answer->entropy_prb, &answer->additional_b, out) &&
           memcmp(out, answer->returned.data, answer->returned.len) == 0;
}

static void every_known_answer_comes_out(void)
{
    struct rsp rsp = {0};
    struct rsp_case answer;
    enum rsp_result result = RSP_END;
    unsigned count = 0;

    CU_ASSERT_TRUE_FATAL(rsp_open(&rsp, CTR_DRBG_RSP));
    while ((result = rsp_next(&rsp, &answer)) == RSP_CASE) {
        EVP_RAND_CTX *parent = evp_rand_ready(libctx, "TEST-RAND", "provider=default", NULL);
        EVP_RAND_CTX *rand = evp_rand(libctx, "CTR-DRBG", "provider=drng", parent);
        const bool right = run(rand, parent, &answer);
        if (!right) {
            (void)fprintf(stderr, "line %u\n", answer.line);
            ERR_print_errors_fp(stderr);
        }
        CU_ASSERT_TRUE(right);
        CU_ASSERT_EQUAL(EVP_RAND_uninstantiate(rand), 1);
        CU_ASSERT_EQUAL(EVP_RAND_verify_zeroization(rand), 1);
        EVP_RAND_CTX_free(rand);
        EVP_RAND_CTX_free(parent);
        count++;
    }
    CU_ASSERT_EQUAL(result, RSP_END);
    CU_ASSERT_EQUAL(count, ANSWERS);
    rsp_close(&rsp);
}

UNIT_TEST("every known answer comes out")
{
    every_known_answer_comes_out();
}

/* Request mixing must leave a foreign chain alone, or none of the above could come out in a virtual machine. */
UNIT_TEST("request mixing changes nothing here")
{
    OSSL_LIB_CTX *before = libctx;
    libctx = evp_context("request_mixing = yes\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    every_known_answer_comes_out();
    OSSL_LIB_CTX_free(libctx);
    libctx = before;
}

int main(void)
{
    libctx = evp_context("request_mixing = no\n");
    const int result = libctx == NULL ? 1 : unit_run("known answers");
    OSSL_LIB_CTX_free(libctx);
    return result;
}
