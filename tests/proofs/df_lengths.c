/*
 * Block_Cipher_df for inputs of any lengths: no access out of bounds. Bytes are not moved here, since no path depends
 * on one; each copy is asked whether it may read and write. df.c compares the bytes with the standard's.
 */

#include "mixing/drbg/df.h"
#include "proof.h"

#include <string.h>

#ifndef MOST_INPUT
#define MOST_INPUT 300
#endif

enum { BLOCK = 16 };

static uint64_t taken; /* blocks of S */

void *memcpy(void *to, const void *from, size_t len)
{
    CLAIM(__CPROVER_w_ok(to, len) && __CPROVER_r_ok(from, len), "a copy between places that are there");
    return to;
}

static void any_chains(const struct drng_aes_schedule *schedule, uint8_t chain[DRNG_AES_CHAINS][DRNG_AES_BLOCK],
                       const uint8_t *in, size_t blocks)
{
    CLAIM(schedule->rounds == KEY_LEN / 4 + 6 && __CPROVER_r_ok(in, BLOCK * blocks), "whole blocks that are there");
    CLAIM(__CPROVER_w_ok(chain, sizeof(*chain) * DRNG_AES_CHAINS), "three chains");
    taken += blocks;
}

static void any_cbc(const uint8_t *key, size_t key_len, uint8_t chain[BLOCK], uint8_t *out, const uint8_t *in,
                    size_t blocks)
{
    CLAIM(key_len == KEY_LEN && __CPROVER_r_ok(key, KEY_LEN) && in == NULL, "K is leftmost (temp, keylen)");
    CLAIM(__CPROVER_w_ok(chain, BLOCK) && __CPROVER_w_ok(out, BLOCK * blocks), "blocks go where there is room");
}

static const struct drng_aes any_aes = {.name = "any", .cbc = any_cbc, .chains = any_chains};

void prove_df_lengths(void)
{
    uint8_t out[DRNG_DRBG_MAX_SEEDLEN];
    struct drng_bytes inputs[3];
    const size_t count = at_most(3);
    uint64_t len = 0;
    for (size_t i = 0; i < 3; i++) {
        inputs[i].len = at_most(MOST_INPUT);
        inputs[i].data = inputs[i].len == 0 && nondet_bool() ? NULL : __CPROVER_allocate(inputs[i].len, 0);
        len += i < count ? inputs[i].len : 0;
    }

    drng_block_cipher_df(&any_aes, KEY_LEN, out, inputs, count);

    CLAIM(taken == (8 + len + 1 + BLOCK - 1) / BLOCK, "S has L, N, the input and its padding, and no block more");
    REACHED("derived bytes");
}
