/* SPDX-License-Identifier: Apache-2.0 */
/* floor.h - a provider whose generator does nothing, so that only the cost of libcrypto itself remains. */

#ifndef DRNG_BENCH_FLOOR_H
#define DRNG_BENCH_FLOOR_H

#include <openssl/core.h>

/* Built in or as a module. Offers the RAND algorithm "FLOOR", and random_bytes() for OpenSSL 3.5. */
OSSL_provider_init_fn bench_floor_init;

#endif
