/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes_trace.c - every implementation of AES on secrets that the argument makes, in the same steps for each argument.
 * For tests that trace the instructions which an emulator executes: with --planted one branch depends on a secret.
 *
 *     aes_trace SEED [--planted]
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/aes/aes.h"

enum { BLOCK = DRNG_AES_BLOCK, MOST = 40 };

struct secrets {
    uint8_t key[DRNG_AES_MAX_KEY];
    uint8_t v[BLOCK];
    uint8_t in[MOST * BLOCK];
};

/* SplitMix64's outputs, a byte each. */
static void fill(uint64_t state, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        state += 0x9e3779b97f4a7c15;
        uint64_t z = state;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        out[i] = (uint8_t)(z >> 56);
    }
}

/* V is a few blocks before a carry for seeds that are even; no branch here, either. */
static void make(struct secrets *secrets, uint64_t seed)
{
    fill(seed, (uint8_t *)secrets, sizeof(*secrets));
    const uint8_t filling = (uint8_t)(seed % 2 - 1);
    for (size_t i = 1; i < BLOCK; i++) {
        secrets->v[i] |= filling;
    }
    secrets->v[BLOCK - 1] = (uint8_t)(secrets->v[BLOCK - 1] - seed / 2);
}

static void run(const struct drng_aes *aes, const struct secrets *secrets)
{
    static const size_t key_lens[] = {16, 24, 32};
    static const size_t blocks[] = {1, 4, 5, 9, 13, 21, MOST - 3};
    static uint8_t out[MOST * BLOCK];
    for (size_t k = 0; k < sizeof(key_lens) / sizeof(*key_lens); k++) {
        for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
            uint8_t v[BLOCK];
            memcpy(v, secrets->v, BLOCK);
            aes->ctr(secrets->key, key_lens[k], v, out, blocks[i], out + blocks[i] * BLOCK, 3);
        }
        uint8_t chain[BLOCK];
        memcpy(chain, secrets->v, BLOCK);
        aes->cbc(secrets->key, key_lens[k], chain, out, secrets->in, MOST);
    }
}

int main(int argc, char **argv)
{
    static struct secrets secrets;
    static volatile uint8_t seen;
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;

    make(&secrets, strtoull(argc > 1 ? argv[1] : "1", NULL, 10));
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    for (size_t i = 0; i < count; i++) {
        run(all[i], &secrets);
    }
    if (argc > 2 && secrets.v[0] % 2 != 0) {
        seen++;
    }
    return 0;
}
