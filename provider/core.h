/* SPDX-License-Identifier: Apache-2.0 */
/* core.h - the functions of libcrypto's core that drng uses. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

/*
 * A function that the core does not offer is NULL. Every core since OpenSSL 3.0 offers the functions for memory. They
 * are libcrypto's own, so what the program sets by CRYPTO_set_mem_functions() and CRYPTO_secure_malloc_init() applies
 * to drng, too.
 */
struct drng_core {
    const OSSL_CORE_HANDLE *handle;
    OSSL_FUNC_core_get_params_fn *get_params;
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_set_error_debug_fn *set_error_debug;
    OSSL_FUNC_core_vset_error_fn *vset_error;
    OSSL_FUNC_CRYPTO_zalloc_fn *zalloc;
    OSSL_FUNC_CRYPTO_free_fn *free;
    OSSL_FUNC_CRYPTO_clear_free_fn *clear_free;
    OSSL_FUNC_CRYPTO_secure_malloc_fn *secure_malloc;
    OSSL_FUNC_CRYPTO_secure_clear_free_fn *secure_clear_free;
    OSSL_FUNC_get_entropy_fn *get_entropy;         /* id 101: the default seed source, never the configured one */
    OSSL_FUNC_cleanup_entropy_fn *cleanup_entropy; /* id 102 */
};

/* The entry of this id in a table of functions, which may be NULL; one whose function is NULL if there is none. */
const OSSL_DISPATCH *drng_dispatch_find(const OSSL_DISPATCH *functions, int id);

void drng_core_init(struct drng_core *core, const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in);

/* Whether it offers the functions for memory, without which drng does not load. */
bool drng_core_has_memory(const struct drng_core *core);

/*
 * The version of the libcrypto that has loaded the provider, "3.0.19"; NULL if the core does not say. Valid as long as
 * that libcrypto is loaded.
 */
const char *drng_core_version(const struct drng_core *core);

/*
 * OpenSSL's default seed source, called through the core, which must offer get_entropy and cleanup_entropy. A
 * drng_fallback (seed.h); arg is the struct drng_core.
 */
bool drng_default_seed_source(void *arg, uint8_t *out, size_t len);

/*
 * The core's memory, which must be freed through the same core: two libcryptos in one process may share this module,
 * and neither can free the other's memory.
 */
#define drng_zalloc(core, len)                    (core)->zalloc((len), __FILE__, __LINE__)
#define drng_free(core, memory)                   (core)->free((memory), __FILE__, __LINE__)
#define drng_clear_free(core, memory, len)        (core)->clear_free((memory), (len), __FILE__, __LINE__)
#define drng_secure_malloc(core, len)             (core)->secure_malloc((len), __FILE__, __LINE__)
#define drng_secure_clear_free(core, memory, len) (core)->secure_clear_free((memory), (len), __FILE__, __LINE__)
