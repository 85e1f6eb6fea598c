/* provider_params.h - the provider's parameters and their names: OSSL_PROVIDER_get_params(3). */

#ifndef DRNG_PROVIDER_PARAMS_H
#define DRNG_PROVIDER_PARAMS_H

#include <openssl/core_dispatch.h>

OSSL_FUNC_provider_gettable_params_fn drng_provider_params_gettable;
OSSL_FUNC_provider_get_params_fn drng_provider_params_get;

#endif
