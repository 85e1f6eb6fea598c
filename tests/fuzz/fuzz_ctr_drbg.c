/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block_Cipher_df and CTR_DRBG against tests/unit/reference.c: requests of all lengths, right and wrong, on every
 * implementation of AES that this CPU runs.
 */

#include <stdlib.h>
#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/drbg/df.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/reference.h"

enum { MAX_INPUT = 1024, MAX_STEPS = 24 };

/* A DRBG and the reference beside it. */
struct pair {
    struct drng_ctr_drbg drbg;
    struct reference_drbg reference;
    const struct drng_aes *aes;
    size_t key_len;
    bool use_df;
    bool seeded;
};

static struct drng_bytes take(struct fuzz_input *input, size_t max)
{
    const size_t len = fuzz_length(input, max);
    return (struct drng_bytes){fuzz_buffer(input, len), len};
}

static void give_back(struct drng_bytes bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

/* ---- What the standard and ctr_drbg.h have to say about lengths ---- */

static size_t seedlen(const struct pair *pair)
{
    return DRNG_DRBG_SEEDLEN(pair->key_len);
}

static bool entropy_fits(const struct pair *pair, struct drng_bytes entropy)
{
    return pair->use_df ? entropy.len >= pair->key_len : entropy.len == seedlen(pair);
}

static bool input_fits(const struct pair *pair, struct drng_bytes input)
{
    return pair->use_df || input.len <= seedlen(pair);
}

static bool is_zero(const struct drng_ctr_drbg *drbg)
{
    return fuzz_is_filled((const uint8_t *)drbg, sizeof(*drbg), 0);
}

/* ---- Steps ---- */

/* The entropy is of the right length more often than chance would have it. */
static struct drng_bytes take_entropy(struct fuzz_input *input, const struct pair *pair)
{
    if (fuzz_byte(input) % 8 == 0) {
        return take(input, MAX_INPUT);
    }
    const size_t len = pair->use_df ? pair->key_len + fuzz_byte(input) % 64 : seedlen(pair);
    return (struct drng_bytes){fuzz_buffer(input, len), len};
}

static void instantiate(struct pair *pair, struct fuzz_input *input)
{
    static const size_t key_lens[] = {16, 24, 32};
    pair->key_len = key_lens[fuzz_byte(input) % 3];
    pair->use_df = fuzz_byte(input) % 2 == 0;
    const struct drng_bytes entropy = take_entropy(input, pair);
    const struct drng_bytes nonce = take(input, pair->use_df || fuzz_byte(input) % 8 == 0 ? MAX_INPUT : 0);
    const struct drng_bytes personalization = take(input, MAX_INPUT);
    const bool fits =
        entropy_fits(pair, entropy) && (pair->use_df || nonce.len == 0) && input_fits(pair, personalization);
    const enum drng_result status = drng_ctr_drbg_instantiate(&pair->drbg, pair->aes, pair->key_len, pair->use_df,
                                                              entropy, nonce, personalization, 1);
    FUZZ_CHECK(status == (fits ? DRNG_OK : DRNG_BAD_LENGTH));
    FUZZ_CHECK(fits || is_zero(&pair->drbg));
    pair->seeded = fits;
    if (pair->seeded) {
        reference_instantiate(&pair->reference, pair->key_len, pair->use_df, entropy, nonce, personalization);
    }
    give_back(entropy);
    give_back(nonce);
    give_back(personalization);
}

static void reseed(struct pair *pair, struct fuzz_input *input)
{
    const struct drng_bytes entropy = take_entropy(input, pair);
    const struct drng_bytes additional = take(input, MAX_INPUT);
    const bool fits = entropy_fits(pair, entropy) && input_fits(pair, additional);
    const enum drng_result status = drng_ctr_drbg_reseed(&pair->drbg, entropy, additional, 1);
    if (!pair->seeded) {
        FUZZ_CHECK(status == DRNG_RESEED_NEEDED || status == DRNG_BAD_LENGTH);
    } else {
        FUZZ_CHECK(status == (fits ? DRNG_OK : DRNG_BAD_LENGTH));
    }
    if (status == DRNG_OK) {
        reference_reseed(&pair->reference, entropy, additional);
    }
    give_back(entropy);
    give_back(additional);
}

static void compare_output(struct pair *pair, const uint8_t *out, size_t len, struct drng_bytes additional,
                           const uint8_t *fresh)
{
    uint8_t *expected = malloc(len);
    FUZZ_CHECK(expected != NULL || len == 0);
    reference_generate(&pair->reference, expected, len, additional, fresh);
    FUZZ_CHECK(len == 0 || memcmp(out, expected, len) == 0);
    free(expected);
}

static void generate(struct pair *pair, struct fuzz_input *input)
{
    const size_t len = fuzz_length(input, DRNG_DRBG_MAX_REQUEST + 1);
    const struct drng_bytes additional = take(input, MAX_INPUT);
    uint8_t *fresh = fuzz_byte(input) % 2 == 0 ? fuzz_buffer(input, DRNG_REQUEST_ENTROPY_LEN) : NULL;
    uint8_t *out = fuzz_output(len);
    const bool fits = len <= DRNG_DRBG_MAX_REQUEST && input_fits(pair, additional);
    const enum drng_result status = drng_ctr_drbg_generate(&pair->drbg, out, len, additional, fresh);
    if (status == DRNG_OK) {
        FUZZ_CHECK(pair->seeded && fits);
        compare_output(pair, out, len, additional, fresh);
    } else {
        FUZZ_CHECK(fuzz_is_filled(out, len, 0));
        FUZZ_CHECK(!pair->seeded || !fits);
    }
    give_back(additional);
    free(fresh);
    free(out);
}

static void derive(const struct pair *pair, struct fuzz_input *input)
{
    const struct drng_bytes inputs[] = {take(input, MAX_INPUT), take(input, MAX_INPUT), take(input, MAX_INPUT)};
    const size_t count = fuzz_byte(input) % 4;
    uint8_t out[DRNG_DRBG_MAX_SEEDLEN];
    uint8_t expected[DRNG_DRBG_MAX_SEEDLEN];
    drng_block_cipher_df(pair->aes, pair->key_len, out, inputs, count);
    reference_df(pair->key_len, expected, inputs, count);
    FUZZ_CHECK(memcmp(out, expected, seedlen(pair)) == 0);
    for (size_t i = 0; i < 3; i++) {
        give_back(inputs[i]);
    }
}

static const struct drng_aes *choose_aes(struct fuzz_input *input)
{
    static const struct drng_aes *all[DRNG_AES_KINDS];
    static size_t count;
    if (count == 0) {
        struct drng_cpu cpu;
        drng_cpu_identify(&cpu);
        count = drng_aes_all(&cpu, all);
    }
    return all[fuzz_byte(input) % count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input input = {data, len};
    struct pair pair = {.aes = choose_aes(&input), .key_len = 32, .use_df = true};
    for (unsigned i = 0; i < MAX_STEPS && input.len > 0; i++) {
        switch (fuzz_byte(&input) / 4 % 5) {
        case 0:
            instantiate(&pair, &input);
            break;
        case 1:
            reseed(&pair, &input);
            break;
        case 2:
            derive(&pair, &input);
            break;
        default:
            generate(&pair, &input);
            break;
        }
        FUZZ_CHECK(!pair.seeded || reference_matches(&pair.reference, &pair.drbg));
    }
    drng_ctr_drbg_uninstantiate(&pair.drbg);
    FUZZ_CHECK(is_zero(&pair.drbg));
    return 0;
}
