/*
 * drbg.h - CTR-DRBG as an EVP_RAND, a replacement for libcrypto's CTR-DRBG (EVP_RAND-CTR-DRBG(7)).
 *
 * The functions are those of provider-rand(7); void * is a struct drng_drbg.
 */

#ifndef DRNG_DRBG_H
#define DRNG_DRBG_H

#include <openssl/core_dispatch.h>

#include "provider/rand/drbg_object.h"

extern const OSSL_DISPATCH drng_drbg_functions[];

OSSL_FUNC_rand_newctx_fn drng_drbg_newctx;
OSSL_FUNC_rand_freectx_fn drng_drbg_freectx;
OSSL_FUNC_rand_instantiate_fn drng_drbg_instantiate;
OSSL_FUNC_rand_generate_fn drng_drbg_generate;
OSSL_FUNC_rand_enable_locking_fn drng_drbg_enable_locking;

#endif
