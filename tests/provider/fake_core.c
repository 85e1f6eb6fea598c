/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/provider/fake_core.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

static int handle;
const OSSL_CORE_HANDLE *const fake_handle = (const OSSL_CORE_HANDLE *)&handle;

unsigned fake_error_reason;
char fake_error_text[512];

const char *fake_version = FAKE_VERSION;
bool fake_entropy_short;
unsigned fake_entropy_calls;
unsigned fake_entropy_cancellable;

static const char *key_set; /* NULL: no key */
static const char *value_set;

void fake_core_set(const char *key, const char *value)
{
    key_set = key;
    value_set = value;
}

static int get_params(const OSSL_CORE_HANDLE *core, OSSL_PARAM params[])
{
    OSSL_PARAM *version = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_CORE_VERSION);
    if (version != NULL && fake_version != NULL) {
        (void)OSSL_PARAM_set_utf8_ptr(version, fake_version);
    }
    OSSL_PARAM *p = key_set != NULL ? OSSL_PARAM_locate(params, key_set) : NULL;
    return core == fake_handle && (p == NULL || OSSL_PARAM_set_utf8_ptr(p, value_set));
}

static void new_error(const OSSL_CORE_HANDLE *core)
{
    fake_error_reason = 0;
    fake_error_text[0] = '\0';
}

static void vset_error(const OSSL_CORE_HANDLE *core, uint32_t reason, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void vset_error(const OSSL_CORE_HANDLE *core, uint32_t reason, const char *format, va_list args)
{
    fake_error_reason = reason;
    if (format != NULL) {
        (void)vsnprintf(fake_error_text, sizeof(fake_error_text), format, args);
    }
}

/* A default seed source that gives other bytes each time, in a child of fork(), too. */
static size_t get_entropy(const OSSL_CORE_HANDLE *core, unsigned char **out, int entropy, size_t min_len,
                          size_t max_len)
{
    int state = PTHREAD_CANCEL_ENABLE;
    int before = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    (void)pthread_setcancelstate(state, &before);
    fake_entropy_calls++;
    fake_entropy_cancellable += state == PTHREAD_CANCEL_ENABLE;
    *out = malloc(min_len);
    if (*out == NULL || getentropy(*out, min_len) != 0) {
        free(*out);
        return 0;
    }
    return fake_entropy_short ? min_len - 1 : min_len;
}

static void cleanup_entropy(const OSSL_CORE_HANDLE *core, unsigned char *bytes, size_t len)
{
    free(bytes);
}

const OSSL_DISPATCH fake_core[] = {
    {OSSL_FUNC_CORE_GET_PARAMS, (void (*)(void))get_params},
    {OSSL_FUNC_CORE_NEW_ERROR, (void (*)(void))new_error},
    {OSSL_FUNC_CORE_VSET_ERROR, (void (*)(void))vset_error},
    {OSSL_FUNC_GET_ENTROPY, (void (*)(void))get_entropy},
    {OSSL_FUNC_CLEANUP_ENTROPY, (void (*)(void))cleanup_entropy},
    {OSSL_FUNC_CRYPTO_ZALLOC, (void (*)(void))CRYPTO_zalloc},
    {OSSL_FUNC_CRYPTO_FREE, (void (*)(void))CRYPTO_free},
    {OSSL_FUNC_CRYPTO_CLEAR_FREE, (void (*)(void))CRYPTO_clear_free},
    {OSSL_FUNC_CRYPTO_SECURE_MALLOC, (void (*)(void))CRYPTO_secure_malloc},
    {OSSL_FUNC_CRYPTO_SECURE_CLEAR_FREE, (void (*)(void))CRYPTO_secure_clear_free},
    {0, NULL},
};
