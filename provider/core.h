/* core.h - what libcrypto's core offers a provider, as far as this one uses it. */

#ifndef DRNG_CORE_H
#define DRNG_CORE_H

#include <stdbool.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

/* Functions that the core did not offer are NULL. */
struct drng_core {
    const OSSL_CORE_HANDLE *handle;
    OSSL_FUNC_core_get_params_fn *get_params;
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_set_error_debug_fn *set_error_debug;
    OSSL_FUNC_core_vset_error_fn *vset_error;
    OSSL_FUNC_core_thread_start_fn *thread_start;
    OSSL_FUNC_get_entropy_fn *get_entropy;         /* id 101: the default seed source, never the configured one */
    OSSL_FUNC_cleanup_entropy_fn *cleanup_entropy; /* id 102 */
};

void drng_core_init(struct drng_core *core, const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in);

#endif
