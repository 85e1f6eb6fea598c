/*
 * Many generators in one process: contexts PROVIDER COUNT makes so many CTR-DRBGs of that provider under libcrypto's
 * primary, all of which draw in turn, and frees them. Prints for one of them: nanoseconds of CPU time to make it with
 * its first 16 bytes, for 16 bytes while all of them live (the median of some rounds), and to free it; the bytes of
 * memory that it takes, and how many of these are locked. scripts/bench/bench_contexts.py makes the table.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

enum { DRAW = 16, MOST = 1000000, ROUNDS = 5 };

static EVP_RAND_CTX **contexts;
static size_t count;

static void fail(const char *what)
{
    (void)fprintf(stderr, "%s\n", what);
    ERR_print_errors_fp(stderr);
    exit(EXIT_FAILURE);
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A line of /proc/self/status, in bytes. */
static double status_bytes(const char *name)
{
    enum { KIB = 1024 };
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && kib < 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kib = strtol(line + strlen(name), NULL, 10);
        }
    }
    if (file == NULL || fclose(file) != 0 || kib < 0) {
        fail("/proc/self/status cannot be read");
    }
    return (double)kib * KIB;
}

static void draw(EVP_RAND_CTX *rand)
{
    unsigned char out[DRAW];
    if (EVP_RAND_generate(rand, out, sizeof(out), 0, 0, NULL, 0) != 1) {
        fail("nothing was drawn");
    }
}

static void make_all(const char *provider)
{
    char query[64];
    (void)snprintf(query, sizeof(query), "provider=%s", provider);
    EVP_RAND *algorithm = EVP_RAND_fetch(NULL, "CTR-DRBG", query);
    if (algorithm == NULL) {
        fail("no such provider");
    }
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("cipher", (char *)"AES-256-CTR", 0),
                           OSSL_PARAM_construct_end()};
    for (size_t i = 0; i < count; i++) {
        contexts[i] = EVP_RAND_CTX_new(algorithm, RAND_get0_primary(NULL));
        if (contexts[i] == NULL || EVP_RAND_instantiate(contexts[i], 0, 0, NULL, 0, params) != 1) {
            fail("no more generators");
        }
        draw(contexts[i]);
    }
    EVP_RAND_free(algorithm);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double draw_from_all(void)
{
    double rounds[ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++) {
        const double begun = now_ns();
        for (size_t i = 0; i < count; i++) {
            draw(contexts[i]);
        }
        rounds[round] = now_ns() - begun;
    }
    qsort(rounds, ROUNDS, sizeof(*rounds), ascending);
    return rounds[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    unsigned char warm[DRAW];
    count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (count == 0 || count > MOST) {
        fail("usage: contexts PROVIDER COUNT");
    }
    contexts = calloc(count, sizeof(EVP_RAND_CTX *));
    if (contexts == NULL || RAND_bytes(warm, sizeof(warm)) != 1) {
        fail("nothing was drawn");
    }
    memset(contexts, 1, count * sizeof(EVP_RAND_CTX *)); /* so that these pages count before, and not after */
    const double memory = status_bytes("VmRSS:");
    const double locked = status_bytes("VmLck:");
    const double begun = now_ns();
    make_all(argv[1]);
    const double made = now_ns();
    const double memory_of_all = status_bytes("VmRSS:") - memory;
    const double locked_of_all = status_bytes("VmLck:") - locked;
    const double drawn = draw_from_all();
    const double freeing = now_ns();
    for (size_t i = 0; i < count; i++) {
        EVP_RAND_CTX_free(contexts[i]);
    }
    const double freed = now_ns() - freeing;
    const double each = (double)count;
    (void)printf("%.0f %.0f %.0f %.0f %.0f\n", (made - begun) / each, drawn / each, freed / each, memory_of_all / each,
                 locked_of_all / each);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
