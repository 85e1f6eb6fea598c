/* SPDX-License-Identifier: Apache-2.0 */
/* CTR-DRBG as provider-rand(7) has it: each function checks, calls generator.h, and raises one error. */

#include "provider/rand/drbg.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include <openssl/core_names.h>
#include <openssl/e_os2.h>
#include <openssl/params.h>

#include "mixing/machine/wipe.h"
#include "provider/errors.h"
#include "provider/observe/report.h"
#include "provider/params.h"
#include "provider/process.h"
#include "provider/rand/instruction_rand.h"

enum {
    DEFAULT_RESEED_REQUESTS = 1 << 8,  /* libcrypto's defaults */
    DEFAULT_RESEED_INTERVAL = 60 * 60, /* seconds */
};

/* libcrypto's default personalization string. Its NUL belongs to it. */
static const uint8_t default_personalization[] = "OpenSSL NIST SP 800-90A DRBG";

/* 1 for DRNG_OK; or 0 with an error in the queue. */
static int answer(const struct drng_drbg *d, enum drng_result result)
{
    return drng_raise_result(&d->provctx->core, result, false);
}

int drng_drbg_answer(struct drng_provctx *provctx, struct drng_generator *g, enum drng_result result, bool drawing)
{
    const struct drng_generator *top = g;
    if (result == DRNG_OK) {
        atomic_store(&g->told, atomic_load(&g->seedings));
        drng_report_seed(provctx);
        return 1;
    }
    while (top->parent != NULL) {
        top = top->parent;
    }
    return drng_raise_unseeded(provctx, top->source == &drng_root_source ? top->source_arg : NULL, result, drawing);
}

/* If data is NULL the length is ignored, as libcrypto does. */
static inline struct drng_bytes given(const unsigned char *data, size_t len)
{
    return (struct drng_bytes){data, data != NULL ? len : 0};
}

/* ---- Life ---- */

/*
 * Under a foreign parent, which may be a test's, the generator gives the standard's answers: no word is mixed in.
 */
bool drng_drbg_prepare(struct drng_provctx *provctx, struct drng_generator *g, bool is_own)
{
    g->personalization = (struct drng_bytes){default_personalization, sizeof(default_personalization)};
    g->aes = drng_process.machine.aes;
    g->words = &provctx->words;
    g->mixing = is_own ? provctx->mixing : DRNG_MIX_NEVER;
    g->counters = &drng_stats.live->counters;
    g->config = (struct drng_generator_config){
        .key_len = DRNG_AES_MAX_KEY,
        .use_df = true,
        .limits = {DEFAULT_RESEED_REQUESTS, DEFAULT_RESEED_INTERVAL, provctx->config.reseed_bytes},
    };
    if (!drng_generator_init(g)) {
        return false;
    }
    g->requests = drng_request_counts_acquire();
    g->shares_requests = g->requests == drng_request_counts_shared();
    return true;
}

void drng_drbg_discard(struct drng_generator *g)
{
    if (g->requests != NULL) {
        drng_request_counts_release(g->requests);
    }
    drng_generator_cleanup(g);
}

/* Parents of drng's are recognized by their tables of functions: other providers use the same names. */
static void *newctx(void *vprovctx, void *parent, const OSSL_DISPATCH *functions)
{
    struct drng_provctx *provctx = vprovctx;
    struct drng_drbg *d = drng_zalloc(&provctx->core, sizeof(*d));
    if (d == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        return NULL;
    }
    d->provctx = provctx;
    drng_parent_init(&d->parent, provctx, parent, functions);
    if (parent == NULL) {
        d->generator.source = &drng_root_source;
        d->generator.source_arg = &provctx->root;
    } else if (functions == drng_drbg_functions) {
        struct drng_drbg *above = parent;
        d->generator.parent = &above->generator;
        d->is_foreign = above->is_foreign;
    } else if (functions == drng_seed_src_functions || functions == drng_rdrand_functions) {
        d->generator.source = &drng_root_source;
        d->generator.source_arg = drng_context_root(parent);
    } else {
        d->generator.source = &drng_parent_source;
        d->generator.source_arg = &d->parent;
        d->is_foreign = !drng_parent_is_joined(&d->parent);
    }
    if (!drng_drbg_prepare(provctx, &d->generator, !d->is_foreign)) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        drng_free(&provctx->core, d);
        return NULL;
    }
    if (d->is_foreign) {
        drng_report_foreign(provctx, 1);
    }
    return d;
}

static void freectx(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    if (d != NULL) {
        if (d->is_foreign) {
            drng_report_foreign(d->provctx, -1);
        }
        drng_drbg_discard(&d->generator);
        drng_free(&d->provctx->core, d);
    }
}

/* There are no lock() and unlock(): each call takes the lock itself (mixing/state/guard.h), and no two calls need it
 * together. */
static int enable_locking(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    if (d->parent.enable_locking != NULL && d->parent.enable_locking(d->parent.ctx) != 1) {
        drng_raise(&d->provctx->core, DRNG_R_PARENT_LOCK, NULL);
        return 0;
    }
    drng_generator_enable_locking(&d->generator);
    return 1;
}

/* ---- Parameters, with the names and types of EVP_RAND-CTR-DRBG(7) ---- */

#define RESEED_BYTES "reseed_bytes" /* drng's own */

enum { CIPHERS = 3 };

/* By the length of their keys: 16, 24 and 32 bytes. */
static const char *const ciphers[CIPHERS] = {"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"};

/* In the order in which they are answered: what fails, a buffer too small for the cipher, leaves out what follows. */
#define GETTABLE(NUMBER, TEXT)                                                                                         \
    NUMBER(OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL), atomic_load(&g->status))                                       \
    NUMBER(OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL), DRNG_DRBG_STRENGTH(config.key_len))                        \
    TEXT(OSSL_PARAM_utf8_string(OSSL_DRBG_PARAM_CIPHER, NULL, 0), ciphers[config.key_len / 8 - 2])                     \
    NUMBER(OSSL_PARAM_int(OSSL_DRBG_PARAM_USE_DF, NULL), config.use_df)                                                \
    NUMBER(OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL), DRNG_DRBG_MAX_REQUEST)                                \
    NUMBER(OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MIN_ENTROPYLEN, NULL), lengths.min_entropy)                               \
    NUMBER(OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_ENTROPYLEN, NULL), lengths.max_entropy)                               \
    NUMBER(OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MIN_NONCELEN, NULL), lengths.min_nonce)                                   \
    NUMBER(OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_NONCELEN, NULL), lengths.max_nonce)                                   \
    NUMBER(OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_PERSLEN, NULL), lengths.max_input)                                    \
    NUMBER(OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_ADINLEN, NULL), lengths.max_input)                                    \
    NUMBER(OSSL_PARAM_uint(OSSL_DRBG_PARAM_RESEED_COUNTER, NULL), atomic_load(&g->seedings))                           \
    NUMBER(OSSL_PARAM_time_t(OSSL_DRBG_PARAM_RESEED_TIME, NULL), atomic_load(&g->seeded_at))                           \
    NUMBER(OSSL_PARAM_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, NULL), config.limits.requests)                             \
    NUMBER(OSSL_PARAM_uint64(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, NULL), config.limits.interval)                      \
    NUMBER(OSSL_PARAM_uint64(RESEED_BYTES, NULL), config.limits.bytes)

static const OSSL_PARAM *gettable_ctx_params(ossl_unused void *vdrbg, ossl_unused void *provctx)
{
    static const OSSL_PARAM known[] = {GETTABLE(DRNG_KNOWN, DRNG_KNOWN) OSSL_PARAM_END};
    return known;
}

static __attribute__((noinline)) int get_any_params(struct drng_drbg *d, OSSL_PARAM params[])
{
    struct drng_generator *g = &d->generator;
    struct drng_generator_config config;
    if (answer(d, drng_generator_config(g, &config)) == 0) {
        return 0;
    }
    const struct drng_generator_lengths lengths = drng_generator_lengths(&config);
    const struct drng_answer answers[] = {GETTABLE(DRNG_NUMBER, DRNG_TEXT)};
    return drng_params_answer(params, answers, sizeof(answers) / sizeof(*answers));
}

static int get_ctx_params(void *vdrbg, OSSL_PARAM params[])
{
    /* Before each request libcrypto asks for max_request, and for nothing else. */
    const size_t max_request = DRNG_DRBG_MAX_REQUEST;
    if (params != NULL && params[0].key != NULL && params[1].key == NULL &&
        strcmp(params[0].key, OSSL_RAND_PARAM_MAX_REQUEST) == 0 && params[0].data_type == OSSL_PARAM_UNSIGNED_INTEGER &&
        params[0].data_size == sizeof(max_request) && params[0].data != NULL) {
        memcpy(params[0].data, &max_request, sizeof(max_request));
        params[0].return_size = sizeof(max_request);
        return 1;
    }
    return get_any_params(vdrbg, params);
}

static const OSSL_PARAM *settable_ctx_params(ossl_unused void *vdrbg, ossl_unused void *provctx)
{
    static const OSSL_PARAM known[] = {
        /* Accepted and ignored, since drng has its own AES. libcrypto's CTR-DRBG has the second since OpenSSL 3.6. */
        OSSL_PARAM_utf8_string(OSSL_DRBG_PARAM_PROPERTIES, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_PROV_PARAM_CORE_PROV_NAME, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_DRBG_PARAM_CIPHER, NULL, 0),
        OSSL_PARAM_int(OSSL_DRBG_PARAM_USE_DF, NULL),
        OSSL_PARAM_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, NULL),
        OSSL_PARAM_uint64(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, NULL),
        OSSL_PARAM_uint64(RESEED_BYTES, NULL),
        OSSL_PARAM_END,
    };
    return known;
}

static bool read_cipher(const struct drng_drbg *d, const OSSL_PARAM params[], size_t *key_len)
{
    const char *name = ciphers[*key_len / 8 - 2];
    size_t len = strlen(name);
    if (drng_params_get_utf8_string(params, OSSL_DRBG_PARAM_CIPHER, &name, &len)) {
        for (size_t i = 0; i < CIPHERS; i++) {
            if (strlen(ciphers[i]) == len && strncasecmp(ciphers[i], name, len) == 0) {
                *key_len = 8 * (i + 2);
                return true;
            }
        }
    }
    drng_raise(&d->provctx->core, DRNG_R_CIPHER, "use AES-128-CTR, AES-192-CTR or AES-256-CTR");
    return false;
}

/* False, with an error in the queue or refused: a parameter has a value that is not allowed. */
static bool read_change(struct drng_drbg *d, const OSSL_PARAM params[], struct drng_change *change)
{
    if (answer(d, drng_generator_config(&d->generator, &change->old)) == 0) {
        return false;
    }
    struct drng_generator_config config = change->old;
    int64_t use_df = config.use_df;
    int64_t requests = config.limits.requests;
    int64_t interval = config.limits.interval;
    int64_t bytes = (int64_t)config.limits.bytes;
    if (!drng_params_get_number(params, OSSL_DRBG_PARAM_USE_DF, INT_MIN, INT_MAX, &use_df) ||
        !drng_params_get_number(params, OSSL_DRBG_PARAM_RESEED_REQUESTS, 0, UINT_MAX, &requests) ||
        !drng_params_get_number(params, OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, INT64_MIN, INT64_MAX, &interval) ||
        !drng_params_get_number(params, RESEED_BYTES, 0, INT64_MAX, &bytes) ||
        (bytes != 0 && bytes < DRNG_LEAST_RESEED_BYTES)) {
        drng_raise(&d->provctx->core, DRNG_R_PARAMETER, "EVP_RAND-DRNG(7) has their types and their least values");
        return false;
    }
    if (!read_cipher(d, params, &config.key_len)) {
        return false;
    }
    if (config.key_len != change->old.key_len) {
        (void)drng_self_test_aes(config.key_len); /* it fails here, where that can be reported */
        drng_stats_note_self_tests();
    }
    config.use_df = use_df != 0;
    config.limits.requests = (unsigned)requests;
    config.limits.interval = interval > 0 ? (time_t)interval : 0; /* a negative one means "never", as in libcrypto */
    config.limits.bytes = (uint64_t)bytes;
    change->config = config;
    return true;
}

static int set_ctx_params(void *vdrbg, const OSSL_PARAM params[])
{
    struct drng_drbg *d = vdrbg;
    struct drng_change change;
    return params == NULL ||
           (read_change(d, params, &change) && answer(d, drng_generator_configure(&d->generator, &change)));
}

/* ---- Calls ---- */

static int instantiate(void *vdrbg, unsigned strength, int prediction_resistance, const unsigned char *personalization,
                       size_t personalization_len, const OSSL_PARAM params[])
{
    struct drng_drbg *d = vdrbg;
    const bool refuses = atomic_load(&d->generator.status) != DRNG_GENERATOR_UNINSTANTIATED; /* whatever is asked for */
    struct drng_change change;
    const bool changes = params != NULL && !refuses;
    if (changes && !read_change(d, params, &change)) {
        return 0;
    }
    const enum drng_result result =
        drng_generator_instantiate(&d->generator, changes ? &change : NULL, strength, prediction_resistance != 0,
                                   given(personalization, personalization_len));
    return drng_drbg_answer(d->provctx, &d->generator, result, false);
}

static int uninstantiate(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    return answer(d, drng_generator_uninstantiate(&d->generator));
}

static int reseed(void *vdrbg, int prediction_resistance, const unsigned char *entropy, size_t entropy_len,
                  const unsigned char *additional, size_t additional_len)
{
    struct drng_drbg *d = vdrbg;
    const enum drng_result result = drng_generator_reseed(
        &d->generator, prediction_resistance != 0, given(entropy, entropy_len), given(additional, additional_len));
    return drng_drbg_answer(d->provctx, &d->generator, result, false);
}

static int generate(void *vdrbg, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                    const unsigned char *additional, size_t additional_len)
{
    struct drng_drbg *d = vdrbg;
    if (__builtin_expect(len > DRNG_DRBG_MAX_REQUEST, 0)) {
        drng_raise(&d->provctx->core, DRNG_R_REQUEST_TOO_LONG, "at most %d bytes", DRNG_DRBG_MAX_REQUEST);
        drng_wipe(out, len);
        return 0;
    }
    const struct drng_extras extras = {given(additional, additional_len), prediction_resistance != 0};
    const struct drng_extras *some = extras.additional.len > 0 || extras.prediction_resistance ? &extras : NULL;
    uint64_t epoch = 0;
    int answer = 0;
    do {
        epoch = drng_epoch();
        const enum drng_result result = drng_generator_generate(&d->generator, out, len, strength, some);
        if (__builtin_expect(result == DRNG_OK && drng_drbg_is_told(&d->generator), 1)) {
            return 1;
        }
        answer = drng_drbg_answer(d->provctx, &d->generator, result, true);
    } while (answer == 1 && drng_epoch() != epoch);
    return answer;
}

static size_t get_seed(void *vdrbg, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                       int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    struct drng_drbg *d = vdrbg;
    const struct drng_core *core = &d->provctx->core;
    size_t len = 0;
    unsigned char *buffer = drng_seed_buffer(core, entropy, min_len, max_len, &len);
    if (buffer == NULL) {
        return 0;
    }
    if (generate(d, buffer, len, 0, prediction_resistance, additional, additional_len) == 0) {
        drng_secure_clear_free(core, buffer, len);
        return 0;
    }
    *seed = buffer;
    return len;
}

static void clear_seed(void *vdrbg, unsigned char *seed, size_t len)
{
    const struct drng_drbg *d = vdrbg;
    drng_secure_clear_free(&d->provctx->core, seed, len);
}

static int verify_zeroization(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    return drng_generator_is_zeroized(&d->generator);
}

const OSSL_DISPATCH drng_drbg_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))newctx},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))freectx},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate},
    {OSSL_FUNC_RAND_RESEED, (void (*)(void))reseed},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))enable_locking},
    {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))gettable_ctx_params},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params},
    {OSSL_FUNC_RAND_SETTABLE_CTX_PARAMS, (void (*)(void))settable_ctx_params},
    {OSSL_FUNC_RAND_SET_CTX_PARAMS, (void (*)(void))set_ctx_params},
    {OSSL_FUNC_RAND_VERIFY_ZEROIZATION, (void (*)(void))verify_zeroization},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))clear_seed},
    {0, NULL},
};
