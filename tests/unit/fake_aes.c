/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_aes.h"

enum { BLOCK = DRNG_AES_BLOCK };

struct fake_aes_script fake_aes_script;

static bool flips(size_t key_len, size_t flipped_key_len)
{
    return ++fake_aes_script.calls == fake_aes_script.flips_at || key_len == flipped_key_len;
}

static void flip(uint8_t *result, size_t blocks, size_t key_len)
{
    const size_t spare = key_len == 24 ? fake_aes_script.spare_192 : 0;
    if (blocks > 0) {
        result[fake_aes_script.flips_last ? blocks * BLOCK - 1 - spare : 0] ^= 0x10;
    }
}

static void ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_blocks,
                uint8_t *tail, size_t tail_blocks)
{
    drng_aes_portable.ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
    if (flips(key_len, fake_aes_script.ctr_flips_key_len)) {
        flip(out, out_blocks, key_len);
        flip(tail, tail_blocks, key_len);
    }
}

static void cbc(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out, const uint8_t *in,
                size_t blocks)
{
    drng_aes_portable.cbc(key, key_len, chain, out, in, blocks);
    if (flips(key_len, fake_aes_script.cbc_flips_key_len)) {
        flip(chain, 1, key_len);
        flip(out, out != NULL ? blocks : 0, key_len);
    }
}

const struct drng_aes fake_aes = {.name = "fake", .ctr = ctr, .cbc = cbc};
