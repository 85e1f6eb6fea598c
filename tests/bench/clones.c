/*
 * What protection from copies of the machine costs a request, in nanoseconds of CPU time: none, a clock device that is
 * watched, a word of RDRAND, and the kernel's bytes with the time. Prints "none counter instruction kernel" for each
 * run, for the length that is its argument; scripts/bench/bench_clones.py makes the table.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/core.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>

#include "mixing/machine/clone.h"
#include "provider/provctx.h"
#include "provider/rand/random_bytes.h"
#include "tests/process/device.h"

extern OSSL_provider_init_fn OSSL_provider_init;

enum { MOST = 65536, RUNS = 51 };

/* Calls of one run: about as many bytes for each length. */
static unsigned calls;
static size_t len;

static void fail(const char *what)
{
    (void)fprintf(stderr, "clones: %s\n", what);
    exit(EXIT_FAILURE);
}

static struct drng_provctx *load(enum drng_request_mixing mixing)
{
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    OSSL_PROVIDER *provider = NULL;
    if (libctx != NULL && OSSL_PROVIDER_add_builtin(libctx, "drng", OSSL_provider_init) == 1) {
        provider = OSSL_PROVIDER_load(libctx, "drng");
    }
    if (provider == NULL) {
        fail("the provider does not load");
    }
    struct drng_provctx *provctx = OSSL_PROVIDER_get0_provider_ctx(provider);
    provctx->mixing = mixing;
    return provctx;
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double request_ns(struct drng_provctx *provctx)
{
    static unsigned char out[MOST];
    const double begun = now_ns();
    for (unsigned i = 0; i < calls; i++) {
        if (drng_random_bytes(provctx, OSSL_PROV_RANDOM_PUBLIC, out, len, 256) != 1) {
            fail("nothing was drawn");
        }
    }
    return (now_ns() - begun) / calls;
}

/* The device is plugged in for this alone: while it is watched, requests take no words. */
static double watched_ns(struct drng_provctx *provctx)
{
    drng_clone_open();
    if (!drng_clone_is_watched()) {
        fail("the device is not watched");
    }
    const double ns = request_ns(provctx);
    drng_clone_close();
    return ns;
}

int main(int argc, char **argv)
{
    len = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (len == 0 || len > MOST) {
        fail("usage: clones LENGTH");
    }
    calls = (unsigned)(len < 1024 ? 2000 : (size_t)2000 * 1024 / len);
    (void)OPENSSL_init_crypto(0, NULL); /* OSSL_PROVIDER_add_builtin() of 3.0 does not see to that, and crashes */
    struct drng_provctx *none = load(DRNG_MIX_NEVER);
    struct drng_provctx *mixing = load(DRNG_MIX_UNWATCHED);
    struct drng_provctx *kernel = load(DRNG_MIX_UNWATCHED);
    if (!device_plug_in() || mixing->words.instructions[0] == NULL) {
        fail("this CPU gives no words, or there is no memory");
    }
    kernel->words.instructions[0] = NULL;
    for (unsigned run = 0; run < RUNS; run++) {
        (void)printf("%.1f %.1f %.1f %.1f\n", request_ns(none), watched_ns(mixing), request_ns(mixing),
                     request_ns(kernel));
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
