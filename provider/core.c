#include "provider/core.h"

#include <stddef.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

/* False if the id is that of another function. */
static bool take_memory_function(struct drng_core *core, const OSSL_DISPATCH *in)
{
    switch (in->function_id) {
    case OSSL_FUNC_CRYPTO_ZALLOC:
        core->zalloc = OSSL_FUNC_CRYPTO_zalloc(in);
        return true;
    case OSSL_FUNC_CRYPTO_FREE:
        core->free = OSSL_FUNC_CRYPTO_free(in);
        return true;
    case OSSL_FUNC_CRYPTO_CLEAR_FREE:
        core->clear_free = OSSL_FUNC_CRYPTO_clear_free(in);
        return true;
    case OSSL_FUNC_CRYPTO_SECURE_MALLOC:
        core->secure_malloc = OSSL_FUNC_CRYPTO_secure_malloc(in);
        return true;
    case OSSL_FUNC_CRYPTO_SECURE_CLEAR_FREE:
        core->secure_clear_free = OSSL_FUNC_CRYPTO_secure_clear_free(in);
        return true;
    default:
        return false;
    }
}

static void take_function(struct drng_core *core, const OSSL_DISPATCH *in)
{
    switch (in->function_id) {
    case OSSL_FUNC_CORE_GET_PARAMS:
        core->get_params = OSSL_FUNC_core_get_params(in);
        break;
    case OSSL_FUNC_CORE_NEW_ERROR:
        core->new_error = OSSL_FUNC_core_new_error(in);
        break;
    case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
        core->set_error_debug = OSSL_FUNC_core_set_error_debug(in);
        break;
    case OSSL_FUNC_CORE_VSET_ERROR:
        core->vset_error = OSSL_FUNC_core_vset_error(in);
        break;
    case OSSL_FUNC_CORE_THREAD_START:
        core->thread_start = OSSL_FUNC_core_thread_start(in);
        break;
    case OSSL_FUNC_GET_ENTROPY:
        core->get_entropy = OSSL_FUNC_get_entropy(in);
        break;
    case OSSL_FUNC_CLEANUP_ENTROPY:
        core->cleanup_entropy = OSSL_FUNC_cleanup_entropy(in);
        break;
    default:
        break;
    }
}

void drng_core_init(struct drng_core *core, const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in)
{
    *core = (struct drng_core){.handle = handle};
    for (; in->function_id != 0; in++) {
        if (!take_memory_function(core, in)) {
            take_function(core, in);
        }
    }
}

const char *drng_core_lacks(const struct drng_core *core)
{
    const struct {
        const char *name;
        bool offered;
    } functions[] = {
        {"CRYPTO_zalloc", core->zalloc != NULL},
        {"CRYPTO_free", core->free != NULL},
        {"CRYPTO_clear_free", core->clear_free != NULL},
        {"CRYPTO_secure_malloc", core->secure_malloc != NULL},
        {"CRYPTO_secure_clear_free", core->secure_clear_free != NULL},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        if (!functions[i].offered) {
            return functions[i].name;
        }
    }
    return NULL;
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
