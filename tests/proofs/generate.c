/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generate of CTR_DRBG for lengths of any size. AES and Block_Cipher_df give any bytes here: they need not even be
 * functions. What is asked of them is noted, and of the output only which bytes are set by whom, so no length is too
 * long. ctr_drbg.c compares the bytes with the standard's.
 */

#define OWN_MEMSET
#include "mixing/drbg/ctr_drbg.h"
#include "proof.h"

#include <string.h>

enum { BLOCK = 16, SEEDLEN = KEY_LEN + BLOCK, MOST_SEEDLEN = DRNG_DRBG_MAX_SEEDLEN, SHORT_LEN = 32 };

void drng_cpu_clear_vectors(void) {}

/* ---- The output, and who sets it ---- */

static uint8_t *output;
static size_t output_len;
static size_t set_to_zero; /* bytes from the start */
static unsigned zeroings;
static size_t copied; /* bytes at the end */

void *memset(void *data, int value, size_t len)
{
    if (__CPROVER_same_object(data, output)) {
        CLAIM(data == output && value == 0 && len <= output_len, "zeros go into the output");
        set_to_zero = len;
        zeroings++;
        return data;
    }
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)data)[i] = (uint8_t)value;
    }
    return data;
}

struct eight {
    uint8_t bytes[8];
};

struct sixteen {
    uint8_t bytes[16];
};

struct twenty_four {
    uint8_t bytes[24];
};

struct thirty_two {
    uint8_t bytes[32];
};

void *memcpy(void *to, const void *from, size_t len)
{
    if (__CPROVER_same_object(to, output)) {
        CLAIM(len < BLOCK && __CPROVER_r_ok(from, len), "a part of a block");
        CLAIM((uint8_t *)to + len == output + output_len, "the last part ends the output, and nothing is behind it");
        copied = len;
    } else if (len == sizeof(struct eight)) {
        *(struct eight *)to = *(const struct eight *)from;
    } else if (len == sizeof(struct sixteen)) {
        *(struct sixteen *)to = *(const struct sixteen *)from;
    } else if (len == sizeof(struct twenty_four)) {
        *(struct twenty_four *)to = *(const struct twenty_four *)from;
    } else {
        CLAIM(len == sizeof(struct thirty_two), "half a block, a block or a key");
        *(struct thirty_two *)to = *(const struct thirty_two *)from;
    }
    return to;
}

/* ---- AES: any bytes ---- */

static struct {
    unsigned calls;
    size_t whole; /* bytes that the last call has put out */
} cipher;

static uint8_t update_bytes[MOST_SEEDLEN]; /* the last that it gave: those for CTR_DRBG_Update */

static void note_call(size_t whole)
{
    cipher.calls++;
    cipher.whole = whole;
    ANY(update_bytes);
}

static void any_ctr(const uint8_t *key, size_t key_len, uint8_t v[BLOCK], uint8_t *out, size_t out_blocks,
                    uint8_t *tail, size_t tail_blocks)
{
    enum { UPDATE_BLOCKS = (SEEDLEN + BLOCK - 1) / BLOCK };
    uint8_t first[BLOCK];
    CLAIM(key_len == KEY_LEN && __CPROVER_r_ok(key, KEY_LEN), "the key is there");
    CLAIM(tail_blocks == UPDATE_BLOCKS || tail_blocks == UPDATE_BLOCKS + 1, "the tail is that of an Update");
    CLAIM(__CPROVER_w_ok(tail, BLOCK * tail_blocks), "the tail has room");
    CLAIM(out_blocks == 0 || (out == output && out_blocks <= output_len / BLOCK), "whole blocks go into the output");
    note_call(BLOCK * out_blocks);
    const size_t cut = BLOCK * (tail_blocks - UPDATE_BLOCKS);
    ANY(first);
    for (size_t i = 0; i < BLOCK; i++) {
        tail[i] = first[i];
        v[i] = nondet_u8();
    }
    for (size_t i = 0; i < BLOCK * UPDATE_BLOCKS; i++) {
        tail[cut + i] = update_bytes[i];
    }
}

#ifdef REQUEST
static void any_update(uint8_t *key, size_t key_len, uint8_t v[BLOCK], const uint8_t *fresh)
{
    CLAIM(key_len == KEY_LEN && __CPROVER_w_ok(key, KEY_LEN), "the key is there");
    note_call(0);
    for (size_t i = 0; i < SEEDLEN; i++) {
        const uint8_t byte = update_bytes[i] ^ (fresh != NULL && i < DRNG_REQUEST_ENTROPY_LEN ? fresh[i] : 0);
        if (i < KEY_LEN) {
            key[i] = byte;
        } else {
            v[i - KEY_LEN] = byte;
        }
    }
}

static void any_request(uint8_t *key, size_t key_len, uint8_t v[BLOCK], uint8_t *out, size_t out_len,
                        const uint8_t *fresh)
{
    CLAIM(out_len <= SHORT_LEN && __CPROVER_w_ok(key, 32), "at most short_len, and the key has room for any");
    if (out_len == 0) {
        CLAIM(fresh == NULL, "an Update alone");
        any_update(key, key_len, v, NULL);
        return;
    }
    CLAIM(out == output && out_len == output_len, "all of the output");
    if (fresh != NULL) {
        any_update(key, key_len, v, fresh);
    }
    any_update(key, key_len, v, fresh);
    cipher.whole = out_len;
}

static const struct drng_aes any_aes = {.name = "any", .ctr = any_ctr, .request = any_request, .short_len = SHORT_LEN};
#else
static const struct drng_aes any_aes = {.name = "any", .ctr = any_ctr};
#endif

/* ---- Block_Cipher_df: any bytes ---- */

static unsigned df_calls;
static uint8_t derived[MOST_SEEDLEN];

void drng_block_cipher_df(const struct drng_aes *aes, size_t key_len, uint8_t out[MOST_SEEDLEN],
                          const struct drng_bytes *inputs, size_t count)
{
    CLAIM(aes == &any_aes && key_len == KEY_LEN && count == 1, "one input, and the context's AES");
    CLAIM(inputs[0].len > 0 && inputs[0].len <= DRNG_DRBG_MAX_INPUT, "an input within its limit");
    df_calls++;
    for (size_t i = 0; i < SEEDLEN; i++) {
        out[i] = derived[i];
    }
}

/* ---- A request ---- */

/* What goes into both Updates: 10.2.1.5, step 2, and the fresh word. */
static uint8_t provided_byte(size_t i, bool use_df, struct drng_bytes additional, const uint8_t *fresh)
{
    const uint8_t input = additional.len == 0 ? 0 : use_df ? derived[i] : i < additional.len ? additional.data[i] : 0;
    return input ^ (fresh != NULL && i < DRNG_REQUEST_ENTROPY_LEN ? fresh[i] : 0);
}

void prove_request(void)
{
    struct drng_ctr_drbg drbg;
    uint8_t input_bytes[MOST_SEEDLEN];
    uint8_t fresh_bytes[DRNG_REQUEST_ENTROPY_LEN];
    const struct drng_bytes additional = {input_bytes, nondet_size()};
    const uint8_t *fresh = nondet_bool() ? fresh_bytes : NULL;
    ANY(drbg);
    ANY(derived);
    drbg.aes = &any_aes;
    drbg.key_len = KEY_LEN;
#ifdef WIPED
    drbg = (struct drng_ctr_drbg){.aes = NULL};
#endif
    const struct drng_ctr_drbg before = drbg;
    output_len = nondet_size();
    ASSUME(output_len <= UINT64_C(1) << 40); /* more than any machine has */
    output = __CPROVER_allocate(output_len, 0);

    const enum drng_result result = drng_ctr_drbg_generate(&drbg, output, output_len, additional, fresh);

    const bool too_long = output_len > 65536 || additional.len > (before.use_df ? INT32_MAX : before.key_len + BLOCK);
    const bool unseeded = before.reseed_counter == 0 || before.reseed_counter > UINT64_C(1) << 48;
    CLAIM(result == (too_long   ? DRNG_BAD_LENGTH
                     : unseeded ? DRNG_RESEED_NEEDED
                                : DRNG_OK),
          "output only from a seeded state, within reseed_interval, for lengths within the limits");
    bool is_unchanged = true;
    bool is_replaced = true;
    for (size_t i = 0; i < SEEDLEN; i++) {
        const uint8_t was = i < KEY_LEN ? before.key[i] : before.v[i - KEY_LEN];
        const uint8_t is = i < KEY_LEN ? drbg.key[i] : drbg.v[i - KEY_LEN];
        is_unchanged = is_unchanged && is == was;
        is_replaced = is_replaced && is == (update_bytes[i] ^ provided_byte(i, before.use_df, additional, fresh));
    }
    CLAIM(drbg.aes == before.aes && drbg.key_len == before.key_len && drbg.use_df == before.use_df &&
              drbg.reseed_time == before.reseed_time,
          "the mechanism and the seed's time stay");
    if (result != DRNG_OK) {
        CLAIM(zeroings == 1 && set_to_zero == output_len && cipher.calls == 0 && copied == 0,
              "a failure leaves zeros, and nothing else");
        CLAIM(is_unchanged && drbg.reseed_counter == before.reseed_counter, "what is refused changes nothing");
        REACHED("a refused request");
        return;
    }
    const bool has_input = additional.len > 0 || fresh != NULL;
    CLAIM(zeroings == 0 && cipher.whole + copied == output_len, "each byte of the output is the cipher's");
    CLAIM(cipher.calls == (has_input ? 2 : 1), "an Update before the output where there is input");
    CLAIM(df_calls == (before.use_df && additional.len > 0 ? 1 : 0), "df derives the additional input, once");
    CLAIM(is_replaced, "Key and V are replaced, by what the cipher gave last and the input");
    CLAIM(drbg.reseed_counter == before.reseed_counter + 1, "reseed_counter counts the request");
    REACHED("a served request");
}
