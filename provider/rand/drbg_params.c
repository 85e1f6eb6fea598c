#include "provider/rand/drbg_params.h"

#include <string.h>
#include <strings.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "provider/errors.h"
#include "provider/params.h"
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

/* The key length of the cipher, or 0 if it is not supported. */
static size_t cipher_key_len(const char *text, size_t len)
{
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

static bool get_lengths(const struct drng_drbg *d, OSSL_PARAM params[])
{
    const struct drng_drbg_lengths lengths = drng_drbg_lengths_of(d);
    return drng_params_set_size(params, OSSL_RAND_PARAM_MAX_REQUEST, DRNG_DRBG_MAX_REQUEST) &&
           drng_params_set_size(params, OSSL_DRBG_PARAM_MIN_ENTROPYLEN, lengths.min_entropy) &&
           drng_params_set_size(params, OSSL_DRBG_PARAM_MAX_ENTROPYLEN, lengths.max_entropy) &&
           drng_params_set_size(params, OSSL_DRBG_PARAM_MIN_NONCELEN, lengths.min_nonce) &&
           drng_params_set_size(params, OSSL_DRBG_PARAM_MAX_NONCELEN, lengths.max_nonce) &&
           drng_params_set_size(params, OSSL_DRBG_PARAM_MAX_PERSLEN, lengths.max_input) &&
           drng_params_set_size(params, OSSL_DRBG_PARAM_MAX_ADINLEN, lengths.max_input);
}

static bool get_reseeding(struct drng_drbg *d, OSSL_PARAM params[])
{
    return drng_params_set_uint(params, OSSL_DRBG_PARAM_RESEED_COUNTER, drng_drbg_seedings(d)) &&
           drng_params_set_time(params, OSSL_DRBG_PARAM_RESEED_TIME, d->reseed_time) &&
           drng_params_set_uint(params, OSSL_DRBG_PARAM_RESEED_REQUESTS, d->limits.requests) &&
           drng_params_set_time(params, OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, d->limits.interval);
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

/* Fast path: before each request libcrypto asks for max_request, and for nothing else. */
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
    return drng_params_set_int(params, OSSL_RAND_PARAM_STATE, d->state) &&
           drng_params_set_uint(params, OSSL_RAND_PARAM_STRENGTH, drng_drbg_strength(d)) &&
           drng_params_set_int(params, OSSL_DRBG_PARAM_USE_DF, d->use_df) &&
           drng_params_set_utf8_string(params, OSSL_DRBG_PARAM_CIPHER, cipher_name(d)) && get_lengths(d, params) &&
           get_reseeding(d, params);
}

/* ---- Setting ---- */

const OSSL_PARAM *drng_drbg_settable_ctx_params(void *vdrbg, void *provctx)
{
    static const OSSL_PARAM known[] = {
        /* Accepted and ignored, since drng has its own AES. libcrypto's CTR-DRBG has the second since OpenSSL 3.6. */
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

/* A change of cipher or derivation function uninstantiates: the seed belongs to the old mechanism. */
static void set_mechanism(struct drng_drbg *d, size_t key_len, bool use_df)
{
    if (d->key_len != key_len || d->use_df != use_df) {
        drng_drbg_forget(d);
        d->key_len = key_len;
        d->use_df = use_df;
    }
}

/* A negative interval means "never", as in libcrypto. */
static bool read_interval(const OSSL_PARAM params[], time_t *interval)
{
    if (!drng_params_get_time(params, OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, interval)) {
        return false;
    }
    *interval = *interval > 0 ? *interval : 0;
    return true;
}

static bool read_cipher(const struct drng_drbg *d, const OSSL_PARAM params[], size_t *key_len)
{
    const char *name = cipher_name(d);
    size_t len = strlen(name);
    const bool is_text = drng_params_get_utf8_string(params, OSSL_DRBG_PARAM_CIPHER, &name, &len);
    *key_len = is_text ? cipher_key_len(name, len) : 0;
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
    size_t key_len = 0;
    int use_df = d->use_df;

    if (params == NULL) {
        return 1;
    }
    if (!drng_params_get_int(params, OSSL_DRBG_PARAM_USE_DF, &use_df) || !read_cipher(d, params, &key_len) ||
        !drng_params_get_uint(params, OSSL_DRBG_PARAM_RESEED_REQUESTS, &limits.requests) ||
        !read_interval(params, &limits.interval)) {
        return 0;
    }
    set_mechanism(d, key_len, use_df != 0);
    d->limits = limits;
    return 1;
}
