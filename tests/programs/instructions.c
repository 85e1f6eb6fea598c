/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.c - loads drng.so and draws, while callgrind counts the instructions: for
 * scripts/evidence/instructions.py. OPENSSL_CONF activates the provider "drng" for all draws.
 *
 * What is counted up to here goes into a file with each mark(). Each kind of draw is made DRAWS times.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <valgrind/callgrind.h>

enum { WARM = 100, DRAWS = 200, RANDOM_BYTES = 1032 };

typedef int random_bytes_fn(void *provctx, int which, void *out, size_t len, unsigned strength);

static void must(int works, const char *what)
{
    if (works != 1) {
        (void)fprintf(stderr, "instructions: %s failed\n", what);
        exit(1);
    }
}

static void mark(const char *name)
{
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_ZERO_STATS;
}

static random_bytes_fn *random_bytes_of(const OSSL_PROVIDER *provider)
{
    const OSSL_DISPATCH *function = OSSL_PROVIDER_get0_dispatch(provider);
    while (function->function_id != 0 && function->function_id != RANDOM_BYTES) {
        function++;
    }
    must(function->function_id != 0, "random_bytes");
    return (random_bytes_fn *)function->function;
}

int main(void)
{
    uint8_t out[32];
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(NULL, "drng");
    mark("load");
    must(provider != NULL, "OSSL_PROVIDER_load");
    random_bytes_fn *random_bytes = random_bytes_of(provider);
    void *provctx = OSSL_PROVIDER_get0_provider_ctx(provider);
    for (unsigned i = 0; i < WARM; i++) {
        must(RAND_bytes(out, 32), "RAND_bytes");
        must(random_bytes(provctx, 0, out, 32, 256), "random_bytes");
    }
    for (size_t len = 16; len <= sizeof(out); len += 16) {
        mark("warm");
        for (unsigned i = 0; i < DRAWS; i++) {
            must(random_bytes(provctx, 0, out, len, 256), "random_bytes");
        }
        mark(len == 16 ? "random_provider, 16 bytes" : "random_provider, 32 bytes");
        for (unsigned i = 0; i < DRAWS; i++) {
            must(RAND_bytes(out, (int)len), "RAND_bytes");
        }
        mark(len == 16 ? "EVP_RAND, 16 bytes" : "EVP_RAND, 32 bytes");
    }
    return OSSL_PROVIDER_unload(provider) == 1 ? 0 : 1;
}
