/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dudect.c - does the time that AES takes tell anything of key or counter? A test of the means, as dudect makes it.
 *
 * Each operation is timed many times, at random with secrets that are always the same or with random ones. If the
 * two means differ by more than chance allows (Welch's t beyond 10 in most of the rounds), time depends on the secret.
 * For the wide registers, which valgrind does not have; a planted dependence must be found, or the verdict is worth
 * nothing.
 *
 * Exit status: 0 nothing found, 1 something, 2 the planted one was missed: too noisy a machine.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <x86intrin.h>

#include "mixing/aes/aes.h"
#include "mixing/drbg/ctr_drbg.h"
#include "mixing/machine/cpu.h"

enum {
    SAMPLES = 100000,
    ROUNDS = 5,
    MOST = 4,   /* of them */
    KEPT = 90,  /* percent: the slowest are interrupts */
    LIMIT = 10, /* dudect's own: beyond it there is a leak, short of it none is known */
    MAX_LEN = 4096,
};

struct secret {
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t v[DRNG_AES_BLOCK];
};

struct operation {
    const char *name;
    void (*run)(const struct drng_aes *aes, struct secret *secret, size_t len);
    size_t len;
};

static uint8_t out[MAX_LEN];

static void must_work(enum drng_result status)
{
    if (status != DRNG_OK) {
        abort();
    }
}

/* ---- Operations ---- */

static void ctr(const struct drng_aes *aes, struct secret *secret, size_t len)
{
    uint8_t tail[3 * DRNG_AES_BLOCK];
    aes->ctr(secret->key, sizeof(secret->key), secret->v, out, len / DRNG_AES_BLOCK, tail, 3);
}

static void cbc(const struct drng_aes *aes, struct secret *secret, size_t len)
{
    aes->cbc(secret->key, sizeof(secret->key), secret->v, out, NULL, len / DRNG_AES_BLOCK);
}

static void generate(const struct drng_aes *aes, struct secret *secret, size_t len)
{
    const struct drng_bytes nothing = {NULL, 0};
    struct drng_ctr_drbg drbg = {.aes = aes, .key_len = sizeof(secret->key), .use_df = true, .reseed_counter = 1};
    memcpy(drbg.key, secret->key, sizeof(drbg.key));
    memcpy(drbg.v, secret->v, sizeof(drbg.v));
    must_work(drng_ctr_drbg_generate(&drbg, out, len, nothing, NULL));
}

/* Stops at the first byte that is not zero, as a careless comparison does. */
static void planted(const struct drng_aes *aes, struct secret *secret, size_t len)
{
    volatile const uint8_t *bytes = secret->key;
    size_t i = 0;
    while (i < len && bytes[i] == 0) {
        i++;
    }
    out[0] = (uint8_t)i;
}

static const struct operation operations[] = {
    {"CTR, 16 bytes", ctr, 16},   {"CTR, 256 bytes", ctr, 256},         {"CTR, 4096 bytes", ctr, 4096},
    {"CBC, 256 bytes", cbc, 256}, {"generate, 32 bytes", generate, 32}, {"generate, 4000 bytes", generate, 4000},
};

static const struct operation planted_operation = {"planted", planted, DRNG_AES_MAX_KEY};

/* ---- Times ---- */

struct sample {
    uint64_t cycles;
    bool random;
};

static void draw(void *bytes, size_t len)
{
    if (getrandom(bytes, len, 0) != (ssize_t)len) {
        abort();
    }
}

static uint64_t cycles_of(const struct operation *operation, const struct drng_aes *aes, struct secret *secret)
{
    unsigned processor = 0;
    _mm_lfence();
    const uint64_t begin = __rdtsc();
    _mm_lfence();
    operation->run(aes, secret, operation->len);
    return __rdtscp(&processor) - begin;
}

/* Both classes take the same steps up to the clock: which it is, a mask decides and no branch. */
static void take_samples(const struct operation *operation, const struct drng_aes *aes, struct sample *samples)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        uint8_t drawn[sizeof(struct secret) + 1];
        struct secret secret;
        draw(drawn, sizeof(drawn));
        samples[i].random = (drawn[sizeof(secret)] & 1) != 0;
        const uint8_t mask = (uint8_t) - (drawn[sizeof(secret)] & 1);
        for (size_t b = 0; b < sizeof(secret); b++) {
            drawn[b] &= mask;
        }
        memcpy(&secret, drawn, sizeof(secret));
        samples[i].cycles = cycles_of(operation, aes, &secret);
    }
}

static int by_cycles(const void *a, const void *b)
{
    const struct sample *left = a;
    const struct sample *right = b;
    return (left->cycles > right->cycles) - (left->cycles < right->cycles);
}

/* Welch's t of the two classes, over the fastest KEPT percent of all. */
static double welch_t(struct sample *samples)
{
    double count[2] = {0};
    double mean[2] = {0};
    double squares[2] = {0};
    qsort(samples, SAMPLES, sizeof(*samples), by_cycles);
    for (size_t i = 0; i < (size_t)SAMPLES * KEPT / 100; i++) {
        const int class = samples[i].random ? 1 : 0;
        const double x = (double)samples[i].cycles;
        const double step = x - mean[class];
        count[class]++;
        mean[class] += step / count[class];
        squares[class] += step * (x - mean[class]);
    }
    const double error = squares[0] / (count[0] - 1) / count[0] + squares[1] / (count[1] - 1) / count[1];
    return error > 0 ? (mean[1] - mean[0]) / sqrt(error) : 0;
}

/* Whether time depends on the secret, with a line that says how sure that is. */
static bool depends(const struct operation *operation, const struct drng_aes *aes, struct sample *samples)
{
    unsigned beyond = 0;
    (void)printf("%-12s %-22s t =", aes->name, operation->name);
    for (int round = 0; round < ROUNDS; round++) {
        take_samples(operation, aes, samples);
        const double t = welch_t(samples);
        beyond += fabs(t) > LIMIT;
        (void)printf(" %8.1f", t);
        (void)fflush(stdout);
    }
    (void)puts(beyond >= MOST ? "   depends on the secret" : "");
    return beyond >= MOST;
}

int main(void)
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    struct sample *samples = calloc(SAMPLES, sizeof(*samples));
    bool found = false;
    if (samples == NULL) {
        return 2;
    }
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    const bool sharp = depends(&planted_operation, all[0], samples);
    for (size_t i = 0; i < count; i++) {
        for (size_t o = 0; o < sizeof(operations) / sizeof(*operations); o++) {
            found = depends(&operations[o], all[i], samples) || found;
        }
    }
    free(samples);
    if (!sharp) {
        (void)puts("The planted dependence was missed: this machine is too noisy for a verdict.");
        return 2;
    }
    (void)puts(found ? "Time depends on a secret." : "No dependence was found but the planted one.");
    return found ? 1 : 0;
}
