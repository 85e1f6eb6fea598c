/* SPDX-License-Identifier: Apache-2.0 */
/* CTR_DRBG against the reference, request after request: output, Key, V and the reseed counter. */

#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/reference.h"
#include "tests/unit/unit.h"

enum { CANARY = 0xc3, NOW = 1234567 };

static const struct drng_bytes none = {NULL, 0};

/* A DRBG and the reference, side by side. */
struct pair {
    struct drng_ctr_drbg drbg;
    struct reference_drbg reference;
};

/* What both are made with. */
struct config {
    const struct drng_aes *aes;
    size_t key_len;
    bool use_df;
};

/* Every AES that this CPU can run, every key size, with and without df. */
static void for_each_config(void (*run)(const struct config *config))
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    for (size_t i = 0; i < count; i++) {
        for (size_t key_len = 16; key_len <= 32; key_len += 8) {
            run(&(struct config){all[i], key_len, true});
            run(&(struct config){all[i], key_len, false});
        }
    }
}

/* Input that is not used up: the lengths are what matters. */
static const uint8_t *input(void)
{
    static uint8_t data[512];
    uint64_t state = 41;
    bytes_random(&state, data, sizeof(data));
    return data;
}

static bool instantiate(struct pair *pair, const struct config *config, struct drng_bytes entropy,
                        struct drng_bytes nonce, struct drng_bytes personalization)
{
    const enum drng_result status = drng_ctr_drbg_instantiate(&pair->drbg, config->aes, config->key_len, config->use_df,
                                                              entropy, nonce, personalization, NOW);
    reference_instantiate(&pair->reference, config->key_len, config->use_df, entropy, nonce, personalization);
    return status == DRNG_OK && reference_matches(&pair->reference, &pair->drbg) && pair->drbg.reseed_counter == 1 &&
           pair->drbg.reseed_time == NOW;
}

/* With the shortest inputs that are allowed. */
static struct pair started(const struct config *config)
{
    struct pair pair;
    const size_t entropy_len = config->use_df ? config->key_len : DRNG_DRBG_SEEDLEN(config->key_len);
    const struct drng_bytes nonce = {input() + 100, config->use_df ? config->key_len / 2 : 0};
    CU_ASSERT_TRUE_FATAL(instantiate(&pair, config, (struct drng_bytes){input(), entropy_len}, nonce, none));
    return pair;
}

/* Whether both give the same out_len bytes, and go on from the same state. */
static bool generate_agrees(struct pair *pair, size_t out_len, struct drng_bytes additional, const uint8_t *fresh)
{
    static uint8_t expected[DRNG_DRBG_MAX_REQUEST];
    static uint8_t out[DRNG_DRBG_MAX_REQUEST + 16];
    memset(out, CANARY, sizeof(out));
    reference_generate(&pair->reference, expected, out_len, additional, fresh);
    return drng_ctr_drbg_generate(&pair->drbg, out, out_len, additional, fresh) == DRNG_OK &&
           memcmp(out, expected, out_len) == 0 && bytes_are(out + out_len, sizeof(out) - out_len, CANARY) &&
           reference_matches(&pair->reference, &pair->drbg);
}

static void instantiation(const struct config *config)
{
    const size_t seedlen = DRNG_DRBG_SEEDLEN(config->key_len);
    struct pair pair;
    if (!config->use_df) {
        for (size_t len = 0; len <= seedlen; len++) {
            CU_ASSERT_TRUE(instantiate(&pair, config, (struct drng_bytes){input(), seedlen}, none,
                                       (struct drng_bytes){input() + 100, len}));
        }
        return;
    }
    for (size_t extra = 0; extra <= 40; extra++) {
        const struct drng_bytes entropy = {input(), config->key_len + extra};
        const struct drng_bytes nonce = {input() + 100, extra * 7 % 41};
        const struct drng_bytes personalization = {input() + 200, extra * 13 % 71};
        CU_ASSERT_TRUE(instantiate(&pair, config, entropy, nonce, personalization));
    }
}

UNIT_TEST("instantiation agrees at every length")
{
    for_each_config(instantiation);
}

static void reseeding(const struct config *config)
{
    const size_t seedlen = DRNG_DRBG_SEEDLEN(config->key_len);
    struct pair pair = started(config);
    for (size_t len = 0; len <= seedlen; len++) {
        const struct drng_bytes entropy = {input() + 50, config->use_df ? config->key_len + len : seedlen};
        const struct drng_bytes additional = {input() + 250, len};
        CU_ASSERT_TRUE(generate_agrees(&pair, 20, none, NULL));
        CU_ASSERT_EQUAL(drng_ctr_drbg_reseed(&pair.drbg, entropy, additional, NOW + 1), DRNG_OK);
        reference_reseed(&pair.reference, entropy, additional);
        CU_ASSERT_TRUE(reference_matches(&pair.reference, &pair.drbg));
        CU_ASSERT_EQUAL(pair.drbg.reseed_counter, 1);
        CU_ASSERT_EQUAL(pair.drbg.reseed_time, NOW + 1);
    }
}

UNIT_TEST("reseeding agrees at every length")
{
    for_each_config(reseeding);
}

static void requests(const struct config *config)
{
    const size_t seedlen = DRNG_DRBG_SEEDLEN(config->key_len);
    struct pair pair = started(config);
    for (size_t len = 0; len <= 100; len++) {
        const struct drng_bytes additional = {input() + len, len % (seedlen + 1)};
        CU_ASSERT_TRUE(generate_agrees(&pair, len, none, NULL));
        CU_ASSERT_TRUE(generate_agrees(&pair, len, additional, NULL));
        CU_ASSERT_TRUE(generate_agrees(&pair, len, none, input() + len));
        CU_ASSERT_TRUE(generate_agrees(&pair, len, additional, input() + len));
    }
    CU_ASSERT_TRUE(generate_agrees(&pair, DRNG_DRBG_MAX_REQUEST - 1, none, NULL));
    CU_ASSERT_TRUE(generate_agrees(&pair, DRNG_DRBG_MAX_REQUEST, none, NULL));
}

UNIT_TEST("requests of every length agree")
{
    for_each_config(requests);
}

/* Before the first request, so a wrong reference would be seen too. */
static void counter_carries(const struct config *config)
{
    const struct pair start = started(config);
    for (unsigned bits = 32; bits <= 128; bits *= 2) {
        for (unsigned before = 0; before < 12; before++) {
            struct pair pair = start;
            reference_before_carry(pair.drbg.v, bits, before);
            reference_before_carry(pair.reference.v, bits, before);
            struct pair with_input = pair;
            CU_ASSERT_TRUE(generate_agrees(&pair, 100, none, NULL));
            CU_ASSERT_TRUE(generate_agrees(&with_input, 100, (struct drng_bytes){input(), 9}, NULL));
        }
    }
}

UNIT_TEST("V carries anywhere in a request")
{
    for_each_config(counter_carries);
}

static void prefixes(const struct config *config)
{
    const struct pair start = started(config);
    uint8_t whole[200];
    struct drng_ctr_drbg drbg = start.drbg;
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, whole, sizeof(whole), none, NULL), DRNG_OK);
    for (size_t len = 0; len < sizeof(whole); len++) {
        uint8_t out[200];
        drbg = start.drbg;
        CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, len, none, NULL), DRNG_OK);
        CU_ASSERT_EQUAL(memcmp(out, whole, len), 0);
    }
}

UNIT_TEST("a shorter request is a prefix of a longer one")
{
    for_each_config(prefixes);
}

/* Backtracking resistance: Key and V are new after every request, and do not lead back to what they gave. */
static void moving_on(const struct config *config)
{
    struct drng_ctr_drbg drbg = started(config).drbg;
    for (size_t len = 16; len <= 64; len += 16) {
        const struct drng_ctr_drbg before = drbg;
        uint8_t out[64];
        uint8_t again[64];
        uint8_t v[DRNG_AES_BLOCK];
        CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, len, none, NULL), DRNG_OK);
        CU_ASSERT_NOT_EQUAL(memcmp(drbg.key, before.key, config->key_len), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(drbg.v, before.v, sizeof(drbg.v)), 0);
        CU_ASSERT_EQUAL(drbg.reseed_counter, before.reseed_counter + 1);

        /* The old V does not bring the output back without the old Key; with it, it would. */
        memcpy(v, before.v, sizeof(v));
        config->aes->ctr(drbg.key, config->key_len, v, again, len / 16, NULL, 0);
        CU_ASSERT_NOT_EQUAL(memcmp(again, out, len), 0);
        memcpy(v, before.v, sizeof(v));
        config->aes->ctr(before.key, config->key_len, v, again, len / 16, NULL, 0);
        CU_ASSERT_EQUAL(memcmp(again, out, len), 0);

        /* Nor does asking again. */
        CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, again, len, none, NULL), DRNG_OK);
        CU_ASSERT_NOT_EQUAL(memcmp(again, out, len), 0);
    }
}

UNIT_TEST("the state moves on and not back")
{
    for_each_config(moving_on);
}

static void request_mixing(const struct config *config)
{
    const struct pair start = started(config);
    const struct drng_bytes additional = {input(), 20};
    static const uint8_t zeros[DRNG_REQUEST_ENTROPY_LEN];
    uint8_t other[DRNG_REQUEST_ENTROPY_LEN];
    memcpy(other, input(), sizeof(other));
    other[DRNG_REQUEST_ENTROPY_LEN - 1] ^= 1;

    /* Without additional input and with it, each of these takes a way of its own. */
    const uint8_t *const fresh[] = {NULL, input(), other, zeros};
    uint8_t out[2][4][32];
    for (size_t with = 0; with < 2; with++) {
        for (size_t i = 0; i < 4; i++) {
            struct pair pair = start;
            CU_ASSERT_TRUE(generate_agrees(&pair, sizeof(out[with][i]), with == 1 ? additional : none, fresh[i]));
            pair = start;
            CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&pair.drbg, out[with][i], sizeof(out[with][i]),
                                                   with == 1 ? additional : none, fresh[i]),
                            DRNG_OK);
            for (size_t j = 0; j < i; j++) {
                /* Additional input makes the first Update anyway, and zeros add nothing to it. */
                const bool same = with == 1 && i == 3 && j == 0;
                CU_ASSERT_EQUAL(memcmp(out[with][i], out[with][j], sizeof(out[with][i])) == 0, same);
            }
        }
    }
    CU_ASSERT_NOT_EQUAL(memcmp(out[0][1], out[1][1], sizeof(out[0][1])), 0);
}

UNIT_TEST("fresh bytes go into the request")
{
    for_each_config(request_mixing);
}

/* Two clones of one snapshot. */
static void parting_of_clones(const struct config *config)
{
    struct drng_ctr_drbg one = started(config).drbg;
    struct drng_ctr_drbg two = one;
    uint8_t out[2][32];
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&one, out[0], 32, none, input()), DRNG_OK);
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&two, out[1], 32, none, input() + 1), DRNG_OK);
    CU_ASSERT_NOT_EQUAL(memcmp(out[0], out[1], 32), 0);
    /* And they stay apart with nothing fresh. */
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&one, out[0], 32, none, NULL), DRNG_OK);
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&two, out[1], 32, none, NULL), DRNG_OK);
    CU_ASSERT_NOT_EQUAL(memcmp(out[0], out[1], 32), 0);
}

UNIT_TEST("clones part with their first fresh bytes")
{
    for_each_config(parting_of_clones);
}

int main(void)
{
    return unit_run("CTR_DRBG against the reference");
}
