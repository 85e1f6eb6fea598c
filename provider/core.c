#include "provider/core.h"

void drng_core_init(struct drng_core *core, const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in)
{
    *core = (struct drng_core){.handle = handle};
    for (; in->function_id != 0; in++) {
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
}
