/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the provider takes from the core that loads it, whichever libcrypto that is: memory, and the version that
 * drng-status shows.
 */

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>

#include "provider/errors.h"
#include "provider/observe/stats.h"
#include "provider/provctx.h"
#include "provider/rand/instruction_rand.h"
#include "provider/rand/random_bytes.h"
#include "tests/provider/drbg_functions.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/unit.h"

/* ---- A core like the other tests', but for some functions ---- */

enum { FUNCTIONS = 32 };

static OSSL_DISPATCH core[FUNCTIONS];

static void copy_core(void)
{
    unsigned count = 0;
    for (; fake_core[count].function_id != 0; count++) {
        CU_ASSERT_FATAL(count + 1 < FUNCTIONS);
        core[count] = fake_core[count];
    }
    core[count] = fake_core[count];
}

static OSSL_DISPATCH *find(int id)
{
    OSSL_DISPATCH *function = core;
    while (function->function_id != 0 && function->function_id != id) {
        function++;
    }
    CU_ASSERT_EQUAL_FATAL(function->function_id, id);
    return function;
}

/* An id that no core has. */
static void take_away(int id)
{
    find(id)->function_id = 9999;
}

static struct drng_provctx *load(void)
{
    fake_core_set(NULL, NULL);
    return drng_provctx_new(fake_handle, core);
}

/* ---- Functions that are missing ---- */

UNIT_TEST("a core without memory is refused")
{
    static const int needed[] = {OSSL_FUNC_CRYPTO_ZALLOC, OSSL_FUNC_CRYPTO_FREE, OSSL_FUNC_CRYPTO_CLEAR_FREE,
                                 OSSL_FUNC_CRYPTO_SECURE_MALLOC, OSSL_FUNC_CRYPTO_SECURE_CLEAR_FREE};
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
        copy_core();
        take_away(needed[i]);
        fake_error_text[0] = '\0';
        CU_ASSERT_PTR_NULL(load());
        CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_CORE);
        CU_ASSERT_PTR_NOT_NULL(strstr(fake_error_text, "no memory: use OpenSSL 3.0 or later"));
    }
}

UNIT_TEST("a core without errors is refused, too")
{
    copy_core();
    take_away(OSSL_FUNC_CORE_NEW_ERROR);
    take_away(OSSL_FUNC_CORE_VSET_ERROR);
    take_away(OSSL_FUNC_CRYPTO_ZALLOC);
    CU_ASSERT_PTR_NULL(load());
}

/* ---- Memory ---- */

enum { HELD = 64 };

static struct held {
    void *memory;
    size_t len;
    bool secure;
} held[HELD];
static unsigned strangers; /* what was freed and is not held, or not in this way */

static unsigned held_now(bool secure)
{
    unsigned count = 0;
    for (unsigned i = 0; i < HELD; i++) {
        count += held[i].memory != NULL && held[i].secure == secure;
    }
    return count;
}

static void *hold(size_t len, bool secure)
{
    unsigned i = 0;
    while (i < HELD && held[i].memory != NULL) {
        i++;
    }
    CU_ASSERT_FATAL(i < HELD);
    held[i] = (struct held){calloc(1, len), len, secure};
    return held[i].memory;
}

static void let_go(void *memory, const size_t *len, bool secure)
{
    for (unsigned i = 0; memory != NULL && i < HELD; i++) {
        if (held[i].memory == memory) {
            strangers += held[i].secure != secure || (len != NULL && held[i].len != *len);
            held[i].memory = NULL;
            free(memory);
            return;
        }
    }
    strangers += memory != NULL;
}

static void *our_zalloc(size_t len, const char *file, int line)
{
    CU_ASSERT_TRUE(strncmp(file, "provider/", 9) == 0 && line > 0);
    return hold(len, false);
}

static void *our_secure_malloc(size_t len, const char *file, int line)
{
    CU_ASSERT_TRUE(strncmp(file, "provider/", 9) == 0 && line > 0);
    return hold(len, true);
}

static void our_free(void *memory, const char *file, int line)
{
    let_go(memory, NULL, false);
}

static void our_clear_free(void *memory, size_t len, const char *file, int line)
{
    let_go(memory, &len, false);
}

static void our_secure_clear_free(void *memory, size_t len, const char *file, int line)
{
    let_go(memory, &len, true);
}

static void copy_core_with_our_memory(void)
{
    copy_core();
    find(OSSL_FUNC_CRYPTO_ZALLOC)->function = (void (*)(void))our_zalloc;
    find(OSSL_FUNC_CRYPTO_FREE)->function = (void (*)(void))our_free;
    find(OSSL_FUNC_CRYPTO_CLEAR_FREE)->function = (void (*)(void))our_clear_free;
    find(OSSL_FUNC_CRYPTO_SECURE_MALLOC)->function = (void (*)(void))our_secure_malloc;
    find(OSSL_FUNC_CRYPTO_SECURE_CLEAR_FREE)->function = (void (*)(void))our_secure_clear_free;
}

/* A parent that has nonces, for which the generator takes memory. */
static size_t parent_nonce(void *parent, unsigned char *out, unsigned strength, size_t min_len, size_t max_len)
{
    if (out != NULL) {
        memset(out, 0x5a, min_len);
    }
    return min_len;
}

static size_t parent_get_seed(void *parent, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                              int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    static unsigned char bytes[64];
    memset(bytes, 0xa5, sizeof(bytes));
    *seed = bytes;
    return min_len;
}

static int parent_get_ctx_params(void *parent, OSSL_PARAM params[])
{
    *(unsigned *)params[0].data = 256;
    return 1;
}

static const OSSL_DISPATCH parent_functions[] = {
    {OSSL_FUNC_RAND_NONCE, (void (*)(void))parent_nonce},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))parent_get_seed},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))parent_get_ctx_params},
    {0, NULL},
};

/* From that core and back to it, in the way in which it was taken. */
UNIT_TEST("memory goes back to where it came from")
{
    unsigned char out[32];
    unsigned char *seed = NULL;
    int parent = 0;
    copy_core_with_our_memory();
    strangers = 0;
    struct drng_provctx *provctx = load();
    CU_ASSERT_PTR_NOT_NULL_FATAL(provctx);
    CU_ASSERT_EQUAL(held_now(false), 1);
    CU_ASSERT_TRUE_FATAL(drng_pairs_open(provctx));
    CU_ASSERT_EQUAL(drng_random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, out, sizeof(out), 0), 1);

    struct drng_drbg *drbg = drbg_newctx(provctx, &parent, parent_functions);
    CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(drbg_get_seed(drbg, &seed, 256, 32, 64, 0, NULL, 0), 32);
    CU_ASSERT_EQUAL(held_now(true), 1);
    drbg_clear_seed(drbg, seed, 32);
    CU_ASSERT_EQUAL(held_now(true), 0);
    drbg_freectx(drbg);

    void *source = seedsrc_newctx(provctx, NULL, NULL);
    CU_ASSERT_EQUAL(seedsrc_instantiate(source, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(seedsrc_get_seed(source, &seed, 256, 48, 64, 0, NULL, 0), 48);
    CU_ASSERT_EQUAL(held_now(true), 1);
    seedsrc_clear_seed(source, seed, 48);
    CU_ASSERT_EQUAL(held_now(true), 0);
    seedsrc_freectx(source);

    drng_pairs_close(provctx);
    drng_provctx_free(provctx);
    CU_ASSERT_EQUAL(held_now(false), 0);
    CU_ASSERT_EQUAL(strangers, 0);
}

/* ---- The version ---- */

UNIT_TEST("the page names the libcrypto that loads")
{
    copy_core();
    struct drng_provctx *provctx = load();
    CU_ASSERT_PTR_NOT_NULL_FATAL(provctx);
    CU_ASSERT_STRING_EQUAL(drng_stats.head->libcrypto, "OpenSSL " FAKE_VERSION);
    drng_provctx_free(provctx);
}

UNIT_TEST("one that does not say is unknown")
{
    copy_core();
    fake_version = NULL;
    struct drng_provctx *provctx = load();
    fake_version = FAKE_VERSION;
    CU_ASSERT_PTR_NOT_NULL_FATAL(provctx);
    CU_ASSERT_STRING_EQUAL(drng_stats.head->libcrypto, "unknown");
    drng_provctx_free(provctx);

    /* A section that cannot be read may have said `fallback = no`. */
    copy_core();
    take_away(OSSL_FUNC_CORE_GET_PARAMS);
    CU_ASSERT_PTR_NULL(load());
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_CORE);
}

UNIT_MAIN("the core")
