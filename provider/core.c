/* SPDX-License-Identifier: Apache-2.0 */
/* What the provider takes from the core that loads it, found in the dispatch table by number. */

#include "provider/core.h"

#include <stddef.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

const OSSL_DISPATCH *drng_dispatch_find(const OSSL_DISPATCH *functions, int id)
{
    static const OSSL_DISPATCH none = {0, NULL};
    for (; functions != NULL && functions->function_id != 0; functions++) {
        if (functions->function_id == id) {
            return functions;
        }
    }
    return &none;
}

void drng_core_init(struct drng_core *core, const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in)
{
    *core = (struct drng_core){
        .handle = handle,
        .get_params = OSSL_FUNC_core_get_params(drng_dispatch_find(in, OSSL_FUNC_CORE_GET_PARAMS)),
        .new_error = OSSL_FUNC_core_new_error(drng_dispatch_find(in, OSSL_FUNC_CORE_NEW_ERROR)),
        .set_error_debug = OSSL_FUNC_core_set_error_debug(drng_dispatch_find(in, OSSL_FUNC_CORE_SET_ERROR_DEBUG)),
        .vset_error = OSSL_FUNC_core_vset_error(drng_dispatch_find(in, OSSL_FUNC_CORE_VSET_ERROR)),
        .zalloc = OSSL_FUNC_CRYPTO_zalloc(drng_dispatch_find(in, OSSL_FUNC_CRYPTO_ZALLOC)),
        .free = OSSL_FUNC_CRYPTO_free(drng_dispatch_find(in, OSSL_FUNC_CRYPTO_FREE)),
        .clear_free = OSSL_FUNC_CRYPTO_clear_free(drng_dispatch_find(in, OSSL_FUNC_CRYPTO_CLEAR_FREE)),
        .secure_malloc = OSSL_FUNC_CRYPTO_secure_malloc(drng_dispatch_find(in, OSSL_FUNC_CRYPTO_SECURE_MALLOC)),
        .secure_clear_free =
            OSSL_FUNC_CRYPTO_secure_clear_free(drng_dispatch_find(in, OSSL_FUNC_CRYPTO_SECURE_CLEAR_FREE)),
        .get_entropy = OSSL_FUNC_get_entropy(drng_dispatch_find(in, OSSL_FUNC_GET_ENTROPY)),
        .cleanup_entropy = OSSL_FUNC_cleanup_entropy(drng_dispatch_find(in, OSSL_FUNC_CLEANUP_ENTROPY)),
    };
}

bool drng_core_has_memory(const struct drng_core *core)
{
    return core->zalloc != NULL && core->free != NULL && core->clear_free != NULL && core->secure_malloc != NULL &&
           core->secure_clear_free != NULL;
}

const char *drng_core_version(const struct drng_core *core)
{
    char *version = NULL;
    OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_CORE_VERSION, &version, 0),
        OSSL_PARAM_END,
    };
    return core->get_params != NULL && core->get_params(core->handle, params) == 1 ? version : NULL;
}

/* The core may return more bytes than were asked for, and never fewer. */
bool drng_default_seed_source(void *arg, uint8_t *out, size_t len)
{
    const struct drng_core *core = arg;
    unsigned char *bytes = NULL;
    const size_t got = core->get_entropy(core->handle, &bytes, (int)(8 * len), len, len);
    const bool enough = got >= len;
    if (enough) {
        memcpy(out, bytes, len);
    }
    if (got > 0) {
        core->cleanup_entropy(core->handle, bytes, got);
    }
    return enough;
}
