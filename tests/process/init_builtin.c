/* SPDX-License-Identifier: Apache-2.0 */
/* The provider linked into the test. */

#include "tests/process/init.h"

extern OSSL_provider_init_fn OSSL_provider_init;

OSSL_provider_init_fn *init_function(void)
{
    return OSSL_provider_init;
}
