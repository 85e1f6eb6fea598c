/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_threads.c - threads that each draw once and end: for the tests that look at what they leave behind.
 *
 * Draws public and private bytes in every thread and prints the SHA-256 of each draw, one a line; the bytes themselves
 * are not printed. The last line says how many KiB of writable memory the process had mapped after the first batches
 * and after the last: "memory 1000 1000".
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

enum { DRAW = 32, DIGEST = 32, BATCH = 8, WARM_UP = 20 };

static bool draw_one(int (*rand)(unsigned char *out, int len))
{
    unsigned char bytes[DRAW];
    unsigned char digest[DIGEST];
    char hex[2 * DIGEST + 1] = "";
    const bool drawn = rand(bytes, DRAW) == 1 && EVP_Digest(bytes, DRAW, digest, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_cleanse(bytes, sizeof(bytes));
    for (size_t i = 0; drawn && i < DIGEST; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    return drawn && printf("%s\n", hex) > 0;
}

/* All of a batch are there at once, in the first batch as in the last, so that all batches take the same memory. */
static pthread_barrier_t barrier;

/* NULL when both were drawn. */
static void *draw(void *failed)
{
    (void)pthread_barrier_wait(&barrier);
    return draw_one(RAND_bytes) && draw_one(RAND_priv_bytes) ? NULL : failed;
}

static bool run_batch(void)
{
    pthread_t ids[BATCH];
    bool good = true;
    for (size_t i = 0; i < BATCH; i++) {
        if (pthread_create(&ids[i], NULL, draw, ids) != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < BATCH; i++) {
        void *failed = NULL;
        good = pthread_join(ids[i], &failed) == 0 && failed == NULL && good;
    }
    return good;
}

/* The size of all private writable mappings, whether touched or not; 0: not known. */
static unsigned long mapped_kib(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
        if (sscanf(line, "VmData: %lu kB", &kib) == 1) {
            break;
        }
    }
    if (status != NULL) {
        (void)fclose(status);
    }
    return kib;
}

int main(int argc, char **argv)
{
    const unsigned long batches = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long before = 0;
    if (batches <= WARM_UP) {
        (void)fprintf(stderr, "usage: short_threads BATCHES (more than %d, of %d threads each)\n", WARM_UP, BATCH);
        return EXIT_FAILURE;
    }
    if (pthread_barrier_init(&barrier, NULL, BATCH) != 0) {
        return EXIT_FAILURE;
    }
    for (unsigned long i = 0; i < batches; i++) {
        if (i == WARM_UP) {
            before = mapped_kib();
        }
        if (!run_batch()) {
            return EXIT_FAILURE;
        }
    }
    (void)printf("memory %lu %lu\n", before, mapped_kib());
    return EXIT_SUCCESS;
}
