/* drbg_params.h - the parameters of CTR-DRBG, with the names and types of EVP_RAND-CTR-DRBG(7). */

#ifndef DRNG_DRBG_PARAMS_H
#define DRNG_DRBG_PARAMS_H

#include <openssl/core_dispatch.h>

/* In these functions void * is a struct drng_drbg. */
OSSL_FUNC_rand_gettable_ctx_params_fn drng_drbg_gettable_ctx_params;
OSSL_FUNC_rand_get_ctx_params_fn drng_drbg_get_ctx_params;
OSSL_FUNC_rand_settable_ctx_params_fn drng_drbg_settable_ctx_params;

/* To be called where nothing else uses the generator: between enter() and leave() of drbg.c. */
OSSL_FUNC_rand_set_ctx_params_fn drng_drbg_set_ctx_params;

#endif
