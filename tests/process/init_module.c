/* SPDX-License-Identifier: Apache-2.0 */
/* The module as it is shipped: the same copy that libcrypto has loaded, if it has. */

#include "tests/process/init.h"

#include <dlfcn.h>
#include <string.h>

OSSL_provider_init_fn *init_function(void)
{
    OSSL_provider_init_fn *init = NULL;
    void *module = dlopen(DRNG_MODULE_DIR "/drng.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = module != NULL ? dlsym(module, "OSSL_provider_init") : NULL;
    memcpy(&init, &symbol, sizeof(init)); /* ISO C has no conversion from the one to the other */
    return init;
}
