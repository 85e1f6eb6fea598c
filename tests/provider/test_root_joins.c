/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generator under OpenSSL's own seed source takes its seed from drng's root and from that source together: on the
 * scripted CPU, under a source of the test's own that states what OpenSSL's states.
 */

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "provider/errors.h"
#include "provider/process.h"
#include "tests/provider/drbg_functions.h"
#include "tests/provider/fake_core.h"
#include "tests/provider/unmask.h"
#include "tests/scripted/cpu.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { OUT = 64, BOTH = 2 * OUT, MOST = 200 };

/* ---- The source ---- */

static unsigned source_strength;
static size_t source_max_request;
static unsigned char source_bytes[MOST];
static size_t source_len; /* of a seed; 0: it has none */
static unsigned asked;
static unsigned cleared; /* seeds given back */

static int source_get_ctx_params(void *source, OSSL_PARAM params[])
{
    OSSL_PARAM *strength = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STRENGTH);
    OSSL_PARAM *max_request = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_MAX_REQUEST);
    return (strength == NULL || OSSL_PARAM_set_uint(strength, source_strength)) &&
           (max_request == NULL || OSSL_PARAM_set_size_t(max_request, source_max_request));
}

static size_t source_get_seed(void *source, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                              int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    asked++;
    *seed = source_bytes;
    return source_len;
}

static void source_clear_seed(void *source, unsigned char *seed, size_t len)
{
    cleared += seed == source_bytes;
}

static size_t source_nonce(void *source, unsigned char *out, unsigned strength, size_t min_len, size_t max_len)
{
    if (out != NULL) {
        memset(out, 0, min_len);
    }
    return min_len;
}

static const OSSL_DISPATCH with_nonces[] = {
    {OSSL_FUNC_RAND_NONCE, (void (*)(void))source_nonce},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))source_get_ctx_params},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))source_get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))source_clear_seed},
    {0, NULL},
};
static const OSSL_DISPATCH *const openssls = with_nonces + 1;

/* As OpenSSL's: it has as many zeros as are wanted. */
static void reset_source(void)
{
    source_strength = 1024;
    source_max_request = 128;
    memset(source_bytes, 0, sizeof(source_bytes));
    source_len = 48;
    asked = 0;
    cleared = 0;
}

/* ---- A process that has seen nothing yet ---- */

static struct drng_provctx *provctx;

static void on_cpu(scripted_behaviour *instruction)
{
    scripted_reset(instruction, instruction);
    drng_process.machine.instructions[DRNG_RDSEED] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDSEED]};
    drng_process.machine.instructions[DRNG_RDRAND] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDRAND]};
    provctx = drng_provctx_new(fake_handle, fake_core);
    CU_ASSERT_PTR_NOT_NULL_FATAL(provctx);
    fake_error_reason = 0;
}

static struct drng_drbg *under(const OSSL_DISPATCH *source)
{
    static int parent;
    struct drng_drbg *drbg = drbg_newctx(provctx, source != NULL ? &parent : NULL, source);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    return drbg;
}

static int instantiate(struct drng_drbg *drbg, int use_df)
{
    char cipher[] = "AES-256-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df),
                                 OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    return drbg_instantiate(drbg, 256, 0, NULL, 0, params);
}

/* The first output of a generator under this source, and one after a reseed. */
static void draw(const OSSL_DISPATCH *source, int use_df, unsigned char out[BOTH])
{
    memset(out, 0, BOTH);
    on_cpu(scripted_good);
    struct drng_drbg *drbg = under(source);
    CU_ASSERT_EQUAL(instantiate(drbg, use_df), 1);
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, OUT, 256, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(drbg_generate(drbg, out + OUT, OUT, 256, 1, NULL, 0), 1);
    CU_ASSERT_FALSE(bytes_are(out, OUT, 0) || bytes_are(out + OUT, OUT, 0));
    drbg_freectx(drbg);
    drng_provctx_free(provctx);
}

/* ---- Tests ---- */

/* Zeros change nothing: what is left is the root's seed, whole. */
UNIT_TEST("the root's seed is in it")
{
    for (int use_df = 0; use_df <= 1; use_df++) {
        unsigned char alone[BOTH];
        unsigned char joined[BOTH];
        reset_source();
        draw(NULL, use_df, alone);
        CU_ASSERT_EQUAL(asked, 0);
        draw(openssls, use_df, joined);
        CU_ASSERT_EQUAL(asked, 2);
        CU_ASSERT_EQUAL(cleared, 2);
        CU_ASSERT_EQUAL(memcmp(alone, joined, sizeof(alone)), 0);
    }
}

static void assert_each_byte_counts(int use_df)
{
    unsigned char zeros[BOTH];
    unsigned char out[BOTH];
    draw(openssls, use_df, zeros);
    for (size_t i = 0; i < source_len; i++) {
        source_bytes[i] = 1;
        draw(openssls, use_df, out);
        CU_ASSERT_NOT_EQUAL(memcmp(out, zeros, OUT), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(out + OUT, zeros + OUT, OUT), 0);
        source_bytes[i] = 0;
    }
}

UNIT_TEST("each byte of the source is in it")
{
    reset_source();
    assert_each_byte_counts(0);
    assert_each_byte_counts(1);
    source_len = MOST; /* longer than what the root gives */
    assert_each_byte_counts(1);
}

UNIT_TEST("a source that gives nothing is missed")
{
    reset_source();
    source_len = 0;
    on_cpu(scripted_good);
    struct drng_drbg *drbg = under(openssls);
    CU_ASSERT_EQUAL(instantiate(drbg, 1), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_GAVE_NO_SEED);
    drbg_freectx(drbg);
    drng_provctx_free(provctx);
}

/* However much the source has to give. */
UNIT_TEST("without an instruction and a fallback there is no seed")
{
    unsigned char out[OUT];
    reset_source();
    fake_core_set("fallback", "no");
    on_cpu(scripted_dry);
    struct drng_drbg *drbg = under(openssls);
    CU_ASSERT_EQUAL(instantiate(drbg, 1), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_NO_SEED_SOURCE);
    CU_ASSERT_EQUAL(cleared, 1);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out), 256, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    drbg_freectx(drbg);
    drng_provctx_free(provctx);
    fake_core_set(NULL, NULL);
}

static bool root_joins_under(const OSSL_DISPATCH *source)
{
    struct drng_drbg *drbg = under(source);
    const bool joins = drbg->parent.root_joins;
    CU_ASSERT_EQUAL(drbg->is_foreign, !joins);
    const uint64_t before = scripted_rdseed.executions;
    CU_ASSERT_EQUAL(instantiate(drbg, 1), 1);
    CU_ASSERT_EQUAL(scripted_rdseed.executions > before, joins);
    drbg_freectx(drbg);
    return joins;
}

/* TEST-RAND's words must stay alone, or its known answers would not come out. */
UNIT_TEST("the root joins no other parent")
{
    reset_source();
    on_cpu(scripted_good);
    CU_ASSERT_TRUE(root_joins_under(openssls));
    CU_ASSERT_FALSE(root_joins_under(with_nonces));
    source_strength = 256;
    CU_ASSERT_FALSE(root_joins_under(openssls));
    source_strength = 1024;
    source_max_request = 1 << 16;
    CU_ASSERT_FALSE(root_joins_under(openssls));
    drng_provctx_free(provctx);
}

int main(void)
{
    return unmask_instructions() ? unit_run("the root joins") : 1;
}
