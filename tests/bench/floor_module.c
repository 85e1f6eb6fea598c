/* SPDX-License-Identifier: Apache-2.0 */
/* The floor as a module that a configuration names, for processes of their own. */

#include "tests/bench/floor.h"

OSSL_provider_init_fn OSSL_provider_init;

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
                       void **provctx)
{
    return bench_floor_init(handle, in, out, provctx);
}
