#include "provider/rand/drbg_params.h"

#include <string.h>
#include <strings.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "provider/errors.h"
#include "provider/rand/drbg_seed.h"

/* ---- Ciphers ---- */

struct cipher {
    const char *name;
    size_t key_len;
};

static const struct cipher ciphers[] = {{"AES-128-CTR", 16}, {"AES-192-CTR", 24}, {"AES-256-CTR", 32}};

enum { CIPHERS = sizeof(ciphers) / sizeof(*ciphers) };

static const char *cipher_name(const struct drng_drbg *d)
{
    for (size_t i = 0; i < CIPHERS; i++) {
        if (ciphers[i].key_len == d->key_len) {
            return ciphers[i].name;
        }
    }
    return NULL;
}

/* 0 for a cipher that is none of ours. The text ends at a NUL or after len bytes. */
static size_t cipher_key_len(const char *text, size_t len)
{
    len = strnlen(text, len);
    for (size_t i = 0; i < CIPHERS; i++) {
        if (strlen(ciphers[i].name) == len && strncasecmp(ciphers[i].name, text, len) == 0) {
            return ciphers[i].key_len;
        }
    }
    return 0;
}

/* ---- Getting ---- */

const OSSL_PARAM *drng_drbg_gettable_ctx_params(void *vdrbg, void *provctx)
{
    static const OSSL_PARAM known[] = {
        OSSL_PARAM_utf8_string(OSSL_DRBG_PARAM_CIPHER, NULL, 0),
        OSSL_PARAM_int(OSSL_DRBG_PARAM_USE_DF, NULL),
        OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL),
        OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL),
        OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL),
        OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MIN_ENTROPYLEN, NULL),
        OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_ENTROPYLEN, NULL),
        OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MIN_NONCELEN, NULL),
        OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_NONCELEN, NULL),
        OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_PERSLEN, NULL),
        OSSL_PARAM_size_t(OSSL_DRBG_PARAM_MAX_ADINLEN, NULL),
        OSSL_PARAM_uint(OSSL_DRBG_PARAM_RESEED_COUNTER, NULL),
        OSSL_PARAM_time_t(OSSL_DRBG_PARAM_RESEED_TIME, NULL),
        OSSL_PARAM_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, NULL),
        OSSL_PARAM_uint64(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, NULL),
        OSSL_PARAM_END,
    };
    (void)vdrbg;
    (void)provctx;
    return known;
}

static int set_size(OSSL_PARAM params[], const char *name, size_t value)
{
    OSSL_PARAM *p = OSSL_PARAM_locate(params, name);
    return p == NULL || OSSL_PARAM_set_size_t(p, value);
}

static int set_uint(OSSL_PARAM params[], const char *name, unsigned value)
{
    OSSL_PARAM *p = OSSL_PARAM_locate(params, name);
    return p == NULL || OSSL_PARAM_set_uint(p, value);
}

static int set_int(OSSL_PARAM params[], const char *name, int value)
{
    OSSL_PARAM *p = OSSL_PARAM_locate(params, name);
    return p == NULL || OSSL_PARAM_set_int(p, value);
}

static int set_time(OSSL_PARAM params[], const char *name, time_t value)
{
    OSSL_PARAM *p = OSSL_PARAM_locate(params, name);
    return p == NULL || OSSL_PARAM_set_time_t(p, value);
}

static int set_utf8(OSSL_PARAM params[], const char *name, const char *value)
{
    OSSL_PARAM *p = OSSL_PARAM_locate(params, name);
    return p == NULL || OSSL_PARAM_set_utf8_string(p, value);
}

static int get_lengths(const struct drng_drbg *d, OSSL_PARAM params[])
{
    const struct drng_drbg_lengths lengths = drng_drbg_lengths_of(d);
    return set_size(params, OSSL_RAND_PARAM_MAX_REQUEST, DRNG_DRBG_MAX_REQUEST) &&
           set_size(params, OSSL_DRBG_PARAM_MIN_ENTROPYLEN, lengths.min_entropy) &&
           set_size(params, OSSL_DRBG_PARAM_MAX_ENTROPYLEN, lengths.max_entropy) &&
           set_size(params, OSSL_DRBG_PARAM_MIN_NONCELEN, lengths.min_nonce) &&
           set_size(params, OSSL_DRBG_PARAM_MAX_NONCELEN, lengths.max_nonce) &&
           set_size(params, OSSL_DRBG_PARAM_MAX_PERSLEN, lengths.max_input) &&
           set_size(params, OSSL_DRBG_PARAM_MAX_ADINLEN, lengths.max_input);
}

static int get_reseeding(struct drng_drbg *d, OSSL_PARAM params[])
{
    return set_uint(params, OSSL_DRBG_PARAM_RESEED_COUNTER, drng_drbg_seedings(d)) &&
           set_time(params, OSSL_DRBG_PARAM_RESEED_TIME, d->reseed_time) &&
           set_uint(params, OSSL_DRBG_PARAM_RESEED_REQUESTS, d->limits.requests) &&
           set_time(params, OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, d->limits.interval);
}

static bool is_max_request(const char *key)
{
    static const char name[] = OSSL_RAND_PARAM_MAX_REQUEST;
#pragma GCC unroll 16
    for (size_t i = 0; i < sizeof(name); i++) {
        if (key[i] != name[i]) {
            return false;
        }
    }
    return true;
}

/* Fast path: libcrypto asks only for max_request before each request. */
static bool answer_max_request(OSSL_PARAM params[])
{
    const size_t max_request = DRNG_DRBG_MAX_REQUEST;
    if (params == NULL || params[0].key == NULL || params[1].key != NULL ||
        params[0].data_type != OSSL_PARAM_UNSIGNED_INTEGER || params[0].data_size != sizeof(max_request) ||
        params[0].data == NULL || !is_max_request(params[0].key)) {
        return false;
    }
    memcpy(params[0].data, &max_request, sizeof(max_request));
    params[0].return_size = sizeof(max_request);
    return true;
}

int drng_drbg_get_ctx_params(void *vdrbg, OSSL_PARAM params[])
{
    struct drng_drbg *d = vdrbg;
    if (answer_max_request(params)) {
        return 1;
    }
    return set_int(params, OSSL_RAND_PARAM_STATE, d->state) &&
           set_uint(params, OSSL_RAND_PARAM_STRENGTH, drng_drbg_strength(d)) &&
           set_int(params, OSSL_DRBG_PARAM_USE_DF, d->use_df) &&
           set_utf8(params, OSSL_DRBG_PARAM_CIPHER, cipher_name(d)) && get_lengths(d, params) &&
           get_reseeding(d, params);
}

/* ---- Setting ---- */

const OSSL_PARAM *drng_drbg_settable_ctx_params(void *vdrbg, void *provctx)
{
    static const OSSL_PARAM known[] = {
        /* Taken, and of no use: AES is our own. The second is the built-in's since OpenSSL 3.6. */
        OSSL_PARAM_utf8_string(OSSL_DRBG_PARAM_PROPERTIES, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_PROV_PARAM_CORE_PROV_NAME, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_DRBG_PARAM_CIPHER, NULL, 0),
        OSSL_PARAM_int(OSSL_DRBG_PARAM_USE_DF, NULL),
        OSSL_PARAM_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, NULL),
        OSSL_PARAM_uint64(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, NULL),
        OSSL_PARAM_END,
    };
    (void)vdrbg;
    (void)provctx;
    return known;
}

/* The mechanism is part of the instantiation: another one begins without a seed. */
static void set_mechanism(struct drng_drbg *d, size_t key_len, bool use_df)
{
    if (d->key_len != key_len || d->use_df != use_df) {
        drng_drbg_forget(d);
        d->key_len = key_len;
        d->use_df = use_df;
    }
}

/* Below 0 is "never", as libcrypto takes it. */
static bool read_interval(const OSSL_PARAM *p, time_t *interval)
{
    if (!OSSL_PARAM_get_time_t(p, interval)) {
        return false;
    }
    *interval = *interval > 0 ? *interval : 0;
    return true;
}

static bool read_cipher(const struct drng_drbg *d, const OSSL_PARAM *p, size_t *key_len)
{
    *key_len = p->data_type == OSSL_PARAM_UTF8_STRING ? cipher_key_len(p->data, p->data_size) : 0;
    if (*key_len == 0) {
        drng_raise(&d->provctx->core, DRNG_R_CIPHER, "use AES-128-CTR, AES-192-CTR or AES-256-CTR");
        return false;
    }
    return true;
}

int drng_drbg_set_ctx_params(void *vdrbg, const OSSL_PARAM params[])
{
    struct drng_drbg *d = vdrbg;
    struct drng_reseed_limits limits = d->limits;
    size_t key_len = d->key_len;
    int use_df = d->use_df;
    const OSSL_PARAM *p = NULL;

    if (params == NULL) {
        return 1;
    }
    if ((p = OSSL_PARAM_locate_const(params, OSSL_DRBG_PARAM_USE_DF)) != NULL && !OSSL_PARAM_get_int(p, &use_df)) {
        return 0;
    }
    if ((p = OSSL_PARAM_locate_const(params, OSSL_DRBG_PARAM_CIPHER)) != NULL && !read_cipher(d, p, &key_len)) {
        return 0;
    }
    if ((p = OSSL_PARAM_locate_const(params, OSSL_DRBG_PARAM_RESEED_REQUESTS)) != NULL &&
        !OSSL_PARAM_get_uint(p, &limits.requests)) {
        return 0;
    }
    if ((p = OSSL_PARAM_locate_const(params, OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL)) != NULL &&
        !read_interval(p, &limits.interval)) {
        return 0;
    }
    set_mechanism(d, key_len, use_df != 0);
    d->limits = limits;
    return 1;
}
