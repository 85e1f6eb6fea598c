/*
 * Two builds of the module in one process, in turns: what a request takes, in nanoseconds of CPU time.
 *
 *     compare ONE.cnf OTHER.cnf
 *
 * Each configuration loads its own drng.so, in a library context of its own. Prints "NAME ONE OTHER" for each run of
 * each kind of request; scripts/bench/bench_compare.py makes the table.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include "provider/rand/random_bytes.h"

enum { MOST = 1 << 16, RUNS = 41, KEY_SIZES = 3, INPUT = 16, SHORT = 16 };

static unsigned char out[MOST];
static const unsigned char input[INPUT];

static void fail(const char *what)
{
    ERR_print_errors_fp(stderr);
    (void)fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

typedef int random_bytes_fn(void *provctx, int which, void *buffer, size_t len, unsigned strength);

/* A module and generators of its own. */
struct build {
    OSSL_LIB_CTX *libctx;
    void *provctx;
    random_bytes_fn *random_bytes;
    EVP_RAND_CTX *drbg[KEY_SIZES];
};

/* Without reseeds, which would be of other lengths in one build than in the other. */
static EVP_RAND_CTX *new_drbg(OSSL_LIB_CTX *libctx, const char *cipher)
{
    unsigned requests = 0;
    time_t interval = 0;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, (char *)(uintptr_t)cipher, 0),
                                 OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
                                 OSSL_PARAM_construct_time_t(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, &interval),
                                 OSSL_PARAM_construct_end()};
    EVP_RAND *rand = EVP_RAND_fetch(libctx, "CTR-DRBG", "provider=drng");
    EVP_RAND_CTX *drbg = EVP_RAND_CTX_new(rand, NULL);
    if (drbg == NULL || EVP_RAND_instantiate(drbg, 128, 0, NULL, 0, params) != 1) {
        fail("no generator");
    }
    EVP_RAND_free(rand);
    return drbg;
}

static struct build load(const char *config)
{
    static const char *const ciphers[KEY_SIZES] = {"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"};
    struct build build = {.libctx = OSSL_LIB_CTX_new()};
    OSSL_PROVIDER *provider = NULL;
    if (build.libctx != NULL && OSSL_LIB_CTX_load_config(build.libctx, config) == 1) {
        provider = OSSL_PROVIDER_load(build.libctx, "drng");
    }
    if (provider == NULL) {
        fail(config);
    }
    build.provctx = OSSL_PROVIDER_get0_provider_ctx(provider);
    for (const OSSL_DISPATCH *d = OSSL_PROVIDER_get0_dispatch(provider); d->function_id != 0; d++) {
        if (d->function_id == OSSL_FUNC_PROVIDER_RANDOM_BYTES) {
            build.random_bytes = (random_bytes_fn *)d->function;
        }
    }
    for (size_t i = 0; i < KEY_SIZES; i++) {
        build.drbg[i] = new_drbg(build.libctx, ciphers[i]);
    }
    return build;
}

/* One kind of request. */
struct request {
    size_t len;
    size_t key_len; /* of a CTR-DRBG through EVP_RAND; 0: random_bytes */
    size_t input_len;
};

static void draw(const struct build *build, const struct request *request)
{
    const int drawn = request->key_len == 0
                          ? build->random_bytes(build->provctx, OSSL_PROV_RANDOM_PUBLIC, out, request->len, 256)
                          : EVP_RAND_generate(build->drbg[request->key_len / 8 - 2], out, request->len, 128, 0,
                                              request->input_len > 0 ? input : NULL, request->input_len);
    if (drawn != 1) {
        fail("nothing was drawn");
    }
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double request_ns(const struct build *build, const struct request *request)
{
    const unsigned calls = (unsigned)(request->len < 1024 ? 2000 : (size_t)2000 * 1024 / request->len);
    draw(build, request);
    const double begun = now_ns();
    for (unsigned i = 0; i < calls; i++) {
        draw(build, request);
    }
    return (now_ns() - begun) / calls;
}

static void compare(const struct build builds[2], const struct request *request)
{
    for (unsigned run = 0; run < RUNS; run++) {
        double ns[2];
        const unsigned first = run & 1;
        ns[first] = request_ns(&builds[first], request);
        ns[1 - first] = request_ns(&builds[1 - first], request);
        (void)printf("%zu/%zu/%zu %.1f %.1f\n", request->key_len, request->input_len, request->len, ns[0], ns[1]);
    }
}

int main(int argc, char **argv)
{
    static const size_t lens[] = {16, 32, 64, 128, 256, 512, 1024, 4096, 16384, MOST};
    if (argc != 3) {
        fail("usage: compare ONE.cnf OTHER.cnf");
    }
    (void)OPENSSL_init_crypto(0, NULL);
    const struct build builds[2] = {load(argv[1]), load(argv[2])};
    for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
        compare(builds, &(struct request){.len = lens[i]});
    }
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        compare(builds, &(struct request){.len = SHORT, .key_len = key_len});
        compare(builds, &(struct request){.len = 256, .key_len = key_len});
        compare(builds, &(struct request){.len = SHORT, .key_len = key_len, .input_len = INPUT});
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
