/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every callback with nothing in its arguments: NULL parameters, lengths of zero, lengths beside NULL. libcrypto's own
 * generator is asked the same in the same way, and drng answers what it answers; where that crashes, drng may refuse.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "tests/process/kernel.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { CRASHED = -1, ABSENT = 99, NOT_MADE = 98 };

struct algorithm {
    OSSL_PROVIDER *provider;
    const OSSL_DISPATCH *functions;
    void *provctx;
    void *ctx; /* made and instantiated for each question */
};

static void (*function(const struct algorithm *a, int id))(void)
{
    for (const OSSL_DISPATCH *f = a->functions; f->function_id != 0; f++) {
        if (f->function_id == id) {
            return f->function;
        }
    }
    exit(ABSENT);
}

#define CALL(name, id, a) ((OSSL_FUNC_rand_##name##_fn *)function(a, OSSL_FUNC_RAND_##id))

static unsigned char bytes[64];

/* ---- Questions: the answer is the exit status of a process of its own ---- */

typedef int question(const struct algorithm *a);

static int get_null(const struct algorithm *a)
{
    return CALL(get_ctx_params, GET_CTX_PARAMS, a)(a->ctx, NULL);
}

static int get_none(const struct algorithm *a)
{
    OSSL_PARAM none[] = {OSSL_PARAM_construct_end()};
    return CALL(get_ctx_params, GET_CTX_PARAMS, a)(a->ctx, none);
}

/* A parameter without a buffer asks for its size. */
static int get_without_buffer(const struct algorithm *a)
{
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL), OSSL_PARAM_construct_end()};
    return CALL(get_ctx_params, GET_CTX_PARAMS, a)(a->ctx, params);
}

static int set_null(const struct algorithm *a)
{
    return CALL(set_ctx_params, SET_CTX_PARAMS, a)(a->ctx, NULL);
}

static int set_none(const struct algorithm *a)
{
    const OSSL_PARAM none[] = {OSSL_PARAM_construct_end()};
    return CALL(set_ctx_params, SET_CTX_PARAMS, a)(a->ctx, none);
}

static int gettable_of_null(const struct algorithm *a)
{
    return CALL(gettable_ctx_params, GETTABLE_CTX_PARAMS, a)(NULL, NULL) != NULL;
}

static int settable_of_null(const struct algorithm *a)
{
    return CALL(settable_ctx_params, SETTABLE_CTX_PARAMS, a)(NULL, NULL) != NULL;
}

static int free_null(const struct algorithm *a)
{
    CALL(freectx, FREECTX, a)(NULL);
    return 1;
}

static int instantiate_again(const struct algorithm *a)
{
    return CALL(instantiate, INSTANTIATE, a)(a->ctx, 0, 0, NULL, 0, NULL);
}

static int instantiate_with(const struct algorithm *a, const unsigned char *personalization, size_t len)
{
    return CALL(uninstantiate, UNINSTANTIATE, a)(a->ctx) == 1 &&
           CALL(instantiate, INSTANTIATE, a)(a->ctx, 0, 0, personalization, len, NULL);
}

static int instantiate_with_nothing(const struct algorithm *a)
{
    return instantiate_with(a, NULL, 0);
}

static int instantiate_with_empty(const struct algorithm *a)
{
    return instantiate_with(a, bytes, 0);
}

static int instantiate_with_null_and_length(const struct algorithm *a)
{
    return instantiate_with(a, NULL, 5);
}

static int generate(const struct algorithm *a, unsigned char *out, size_t len, const unsigned char *additional,
                    size_t additional_len)
{
    return CALL(generate, GENERATE, a)(a->ctx, out, len, 0, 0, additional, additional_len);
}

static int generate_nothing(const struct algorithm *a)
{
    return generate(a, bytes, 0, NULL, 0);
}

static int generate_nothing_into_null(const struct algorithm *a)
{
    return generate(a, NULL, 0, NULL, 0);
}

static int generate_with_empty_input(const struct algorithm *a)
{
    return generate(a, bytes, 16, bytes + 32, 0);
}

static int generate_with_null_and_length(const struct algorithm *a)
{
    return generate(a, bytes, 16, NULL, 7);
}

static int reseed(const struct algorithm *a, const unsigned char *entropy, size_t entropy_len,
                  const unsigned char *additional, size_t additional_len)
{
    return CALL(reseed, RESEED, a)(a->ctx, 0, entropy, entropy_len, additional, additional_len);
}

static int reseed_with_nothing(const struct algorithm *a)
{
    return reseed(a, NULL, 0, NULL, 0);
}

static int reseed_with_null_and_length(const struct algorithm *a)
{
    return reseed(a, NULL, 48, NULL, 5);
}

static int reseed_with_empty_input(const struct algorithm *a)
{
    return reseed(a, NULL, 0, bytes, 0);
}

static int uninstantiate_twice(const struct algorithm *a)
{
    return CALL(uninstantiate, UNINSTANTIATE, a)(a->ctx) == 1 && CALL(uninstantiate, UNINSTANTIATE, a)(a->ctx);
}

static int zeroization_when_ready(const struct algorithm *a)
{
    return CALL(verify_zeroization, VERIFY_ZEROIZATION, a)(a->ctx);
}

static int zeroization_after(const struct algorithm *a)
{
    return CALL(uninstantiate, UNINSTANTIATE, a)(a->ctx) == 1 &&
           CALL(verify_zeroization, VERIFY_ZEROIZATION, a)(a->ctx);
}

static int enable_locking_twice(const struct algorithm *a)
{
    return CALL(enable_locking, ENABLE_LOCKING, a)(a->ctx) == 1 && CALL(enable_locking, ENABLE_LOCKING, a)(a->ctx);
}

static int clear_no_seed(const struct algorithm *a)
{
    CALL(clear_seed, CLEAR_SEED, a)(a->ctx, NULL, 0);
    return 1;
}

static int new_without_parent(const struct algorithm *a)
{
    return CALL(newctx, NEWCTX, a)(a->provctx, NULL, NULL) != NULL;
}

static int provider_params_of_null(const struct algorithm *a)
{
    return OSSL_PROVIDER_get_params(a->provider, NULL);
}

static int provider_params_of_none(const struct algorithm *a)
{
    OSSL_PARAM none[] = {OSSL_PARAM_construct_end()};
    return OSSL_PROVIDER_get_params(a->provider, none);
}

static int provider_gettable(const struct algorithm *a)
{
    return OSSL_PROVIDER_gettable_params(a->provider) != NULL;
}

static int provider_query_of_no_operation(const struct algorithm *a)
{
    int no_cache = 0;
    return OSSL_PROVIDER_query_operation(a->provider, 0, &no_cache) != NULL;
}

static const struct {
    const char *name;
    question *ask;
    bool may_differ; /* drng serves no bytes at all where libcrypto's own refuses, and refuses a second instantiate() */
} questions[] = {
    {"get_ctx_params(NULL)", get_null, false},
    {"get_ctx_params() of none", get_none, false},
    {"get_ctx_params() without a buffer", get_without_buffer, false},
    {"set_ctx_params(NULL)", set_null, false},
    {"set_ctx_params() of none", set_none, false},
    {"gettable_ctx_params(NULL, NULL)", gettable_of_null, false},
    {"settable_ctx_params(NULL, NULL)", settable_of_null, false},
    {"freectx(NULL)", free_null, false},
    {"instantiate() again", instantiate_again, true},
    {"instantiate() with nothing", instantiate_with_nothing, false},
    {"instantiate() with an empty personalization", instantiate_with_empty, false},
    {"instantiate() with NULL and a length", instantiate_with_null_and_length, false},
    {"generate() of nothing", generate_nothing, true},
    {"generate() of nothing into NULL", generate_nothing_into_null, true},
    {"generate() with an empty input", generate_with_empty_input, false},
    {"generate() with NULL and a length", generate_with_null_and_length, false},
    {"reseed() with nothing", reseed_with_nothing, false},
    {"reseed() with NULL and a length", reseed_with_null_and_length, false},
    {"reseed() with an empty input", reseed_with_empty_input, false},
    {"uninstantiate() twice", uninstantiate_twice, false},
    {"verify_zeroization() when ready", zeroization_when_ready, false},
    {"verify_zeroization() after uninstantiate()", zeroization_after, false},
    {"enable_locking() twice", enable_locking_twice, false},
    {"clear_seed(NULL, 0)", clear_no_seed, false},
    {"newctx() without a parent", new_without_parent, false},
    {"the provider's get_params(NULL)", provider_params_of_null, false},
    {"the provider's get_params() of none", provider_params_of_none, false},
    {"the provider's gettable_params()", provider_gettable, false},
    {"the provider's query of no operation", provider_query_of_no_operation, false},
};

enum { QUESTIONS = sizeof(questions) / sizeof(*questions) };

/* ---- Asking ---- */

struct asked {
    const struct algorithm *algorithm;
    question *ask;
};

static int answer_in_child(void *vasked)
{
    const struct asked *asked = vasked;
    struct algorithm a = *asked->algorithm;
    a.ctx = CALL(newctx, NEWCTX, &a)(a.provctx, NULL, NULL);
    /* libcrypto's own CTR-DRBG has no cipher before it is told. */
    char cipher[] = "AES-256-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    if (a.ctx == NULL || CALL(instantiate, INSTANTIATE, &a)(a.ctx, 0, 0, NULL, 0, params) != 1) {
        return NOT_MADE;
    }
    return asked->ask(&a);
}

static int answer(const struct algorithm *a, question *ask)
{
    struct asked asked = {a, ask};
    const int status = child_forked(answer_in_child, &asked);
    return WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED;
}

static struct algorithm find(OSSL_LIB_CTX *libctx, const char *provider, const char *name)
{
    struct algorithm a = {.provider = OSSL_PROVIDER_load(libctx, provider)};
    int no_cache = 0;
    const OSSL_ALGORITHM *algorithms = OSSL_PROVIDER_query_operation(a.provider, OSSL_OP_RAND, &no_cache);
    a.provctx = OSSL_PROVIDER_get0_provider_ctx(a.provider);
    for (; algorithms->algorithm_names != NULL; algorithms++) {
        if (strncmp(algorithms->algorithm_names, name, strlen(name)) == 0) {
            a.functions = algorithms->implementation;
        }
    }
    return a;
}

static const char *text(int given)
{
    static char words[2][16];
    static unsigned which;
    which = !which;
    (void)snprintf(words[which], sizeof(words[which]), "%d", given);
    return given == CRASHED ? "a crash" : given == ABSENT ? "nothing: no such callback" : words[which];
}

/* Where libcrypto's own has no such callback or crashes, drng need not answer the same. */
static void answers_like(const char *own, const char *name)
{
    OSSL_LIB_CTX *libctx = evp_context("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(libctx);
    const struct algorithm theirs = find(libctx, "default", own);
    const struct algorithm ours = find(libctx, "drng", name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(theirs.functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ours.functions);
    unsigned alike = 0;
    for (unsigned i = 0; i < QUESTIONS; i++) {
        const int expected = answer(&theirs, questions[i].ask);
        const int given = answer(&ours, questions[i].ask);
        CU_ASSERT_NOT_EQUAL(expected, NOT_MADE);
        CU_ASSERT_NOT_EQUAL(given, NOT_MADE);
        const bool open = expected == CRASHED || expected == ABSENT || questions[i].may_differ;
        alike += given == expected && !open;
        if (given == CRASHED || (!open && given != ABSENT && given != expected)) {
            (void)printf("\n  %s, %s: %s where libcrypto's %s gives %s", name, questions[i].name, text(given), own,
                         text(expected));
            CU_FAIL("another answer than libcrypto's own");
        }
    }
    CU_ASSERT(alike >= QUESTIONS / 2);
    OSSL_PROVIDER_unload(theirs.provider);
    OSSL_PROVIDER_unload(ours.provider);
    OSSL_LIB_CTX_free(libctx);
}

UNIT_TEST("CTR-DRBG")
{
    answers_like("CTR-DRBG", "CTR-DRBG");
}

UNIT_TEST("the seed source")
{
    answers_like("SEED-SRC", "DRNG-SEED");
}

UNIT_TEST("the words of an instruction")
{
    OSSL_LIB_CTX *libctx = evp_context("");
    const char *name = evp_words_that_serve(libctx);
    OSSL_LIB_CTX_free(libctx);
    if (name != NULL) {
        answers_like("SEED-SRC", name);
    }
}

int main(void)
{
    return kernel_is_instrumented() ? unit_skipped("what crashes here by its nature would stop the tools")
                                    : unit_run("empty arguments");
}
