#include "tests/bench/linked.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/core.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>

#include "provider/rand/random_bytes.h"

extern OSSL_provider_init_fn OSSL_provider_init;

void linked_fail(const char *what)
{
    (void)fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

struct drng_provctx *linked_load(void)
{
    (void)OPENSSL_init_crypto(0, NULL); /* OSSL_PROVIDER_add_builtin() of 3.0 does not see to that, and crashes */
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    OSSL_PROVIDER *provider = NULL;
    if (libctx != NULL && OSSL_PROVIDER_add_builtin(libctx, "drng", OSSL_provider_init) == 1) {
        provider = OSSL_PROVIDER_load(libctx, "drng");
    }
    if (provider == NULL) {
        linked_fail("the provider does not load");
    }
    return OSSL_PROVIDER_get0_provider_ctx(provider);
}

void linked_draw(struct drng_provctx *provctx, unsigned char *out, size_t len)
{
    if (drng_random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, out, len, 256) != 1) {
        linked_fail("nothing was drawn");
    }
}

double linked_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
