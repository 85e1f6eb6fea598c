/* SPDX-License-Identifier: Apache-2.0 */
/* The module as it is shipped. */

#include "tests/provider/evp.h"

bool evp_make_loadable(OSSL_LIB_CTX *libctx)
{
    return OSSL_PROVIDER_set_default_search_path(libctx, DRNG_MODULE_DIR) == 1;
}
