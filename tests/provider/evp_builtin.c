/* SPDX-License-Identifier: Apache-2.0 */
/* The provider linked into the test, on whichever CPU is linked beside it. */

#include "tests/provider/evp.h"

#include <openssl/core.h>

extern OSSL_provider_init_fn OSSL_provider_init;

bool evp_make_loadable(OSSL_LIB_CTX *libctx)
{
    return OSSL_PROVIDER_add_builtin(libctx, "drng", OSSL_provider_init) == 1;
}
