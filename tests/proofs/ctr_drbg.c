/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CTR_DRBG beside SP 800-90A Rev. 1, 10.2.1, written down step by step as the standard has it. AES is any function.
 * Block_Cipher_df is any function here, too; df.c has it.
 */

#include "mixing/drbg/ctr_drbg.h"
#include "aes_any.h"

#include <string.h>

/* Of prove_generate(): proofs.toml sets them. */
#ifndef OUT_LEN
#define OUT_LEN   0
#define INPUT_LEN 0
#define USE_DF    0
#define FRESH     0
#endif

enum { BLOCK = 16 };

void drng_cpu_clear_vectors(void) {}

/* ---- Block_Cipher_df: its inputs are noted, and it gives any bytes ---- */

static uint8_t derived[DRNG_DRBG_MAX_SEEDLEN];
static struct drng_bytes df_inputs[3];
static size_t df_count;
static size_t df_calls;

void drng_block_cipher_df(const struct drng_aes *aes, size_t key_len, uint8_t out[DRNG_DRBG_MAX_SEEDLEN],
                          const struct drng_bytes *inputs, size_t count)
{
    CLAIM(aes == &any_aes, "the context's AES");
    CLAIM(count <= 3, "at most three inputs");
    uint64_t len = 0;
    for (size_t i = 0; i < count; i++) {
        df_inputs[i] = inputs[i];
        len += inputs[i].len;
    }
    CLAIM(len <= UINT32_MAX, "L has 32 bits");
    df_count = count;
    df_calls++;
    memcpy(out, derived, DRNG_DRBG_SEEDLEN(key_len));
}

static bool is_same(struct drng_bytes a, struct drng_bytes b)
{
    return a.data == b.data && a.len == b.len;
}

/* ---- The standard ---- */

struct model {
    size_t key_len;
    uint8_t key[32];
    uint8_t v[BLOCK];
    uint64_t reseed_counter;
};

/* 10.2.1.2: CTR_DRBG_Update. */
static void model_update(struct model *m, const uint8_t provided_data[48])
{
    const size_t seedlen = m->key_len + BLOCK;
    uint8_t temp[48];
    u128 v = number_of_block(m->v);
    for (size_t len = 0; len < seedlen; len += BLOCK) {
        v++;
        block_of_number(temp + len, any_encrypt(m->key, m->key_len, v));
    }
    for (size_t i = 0; i < seedlen; i++) {
        temp[i] ^= provided_data[i];
    }
    for (size_t i = 0; i < m->key_len; i++) {
        m->key[i] = temp[i];
    }
    for (size_t i = 0; i < BLOCK; i++) {
        m->v[i] = temp[m->key_len + i];
    }
}

/* 10.2.1.5, steps 3 to 7. */
static void model_generate(struct model *m, uint8_t *out, size_t len, const uint8_t additional_input[48])
{
    u128 v = number_of_block(m->v);
    uint8_t block[BLOCK];
    for (size_t i = 0; i < len; i++) {
        if (i % BLOCK == 0) {
            v++;
            block_of_number(block, any_encrypt(m->key, m->key_len, v));
        }
        out[i] = block[i % BLOCK];
    }
    block_of_number(m->v, v);
    model_update(m, additional_input);
    m->reseed_counter++;
}

static struct model model_of(const struct drng_ctr_drbg *drbg)
{
    struct model m = {.key_len = drbg->key_len, .reseed_counter = drbg->reseed_counter};
    memcpy(m.key, drbg->key, sizeof(m.key));
    memcpy(m.v, drbg->v, sizeof(m.v));
    return m;
}

static void claim_same(const struct drng_ctr_drbg *drbg, const struct model *m)
{
    const size_t at = nondet_size();
    ASSUME(at < m->key_len);
    CLAIM(drbg->key[at] == m->key[at], "Key is the standard's");
    CLAIM(number_of_block(drbg->v) == number_of_block(m->v), "V is the standard's");
    CLAIM(drbg->reseed_counter == m->reseed_counter, "reseed_counter is the standard's");
}

/* ---- Contexts and inputs ---- */

static struct drng_ctr_drbg any_context(void)
{
    struct drng_ctr_drbg drbg;
    ANY(drbg);
    drbg.aes = &any_aes;
    drbg.key_len = KEY_LEN;
    drbg.use_df = nondet_bool();
    return drbg;
}

/* The derived bytes stand for any, so the longest seedlen is chosen once. */
static void choose_derived(void)
{
    ANY(derived);
}

/* Without df the inputs are padded with zeros to seedlen, with df they are derived. */
static void prepare(const struct drng_ctr_drbg *drbg, uint8_t prepared[48], struct drng_bytes in)
{
    for (size_t i = 0; i < 48; i++) {
        prepared[i] = 0;
        if (in.len > 0 && i < (size_t)drbg->key_len + BLOCK) {
            prepared[i] = drbg->use_df ? derived[i] : i < in.len ? in.data[i] : 0;
        }
    }
}

/* ---- Generate ---- */

/*
 * A run of the prover for each set of lengths: where they are constants, the prover meets the same values of AES on
 * both sides. generate.c has lengths of any size, and what is refused.
 */
void prove_generate(void)
{
    struct drng_ctr_drbg drbg = any_context();
    drbg.use_df = USE_DF;
    ASSUME(drbg.reseed_counter >= 1 && drbg.reseed_counter <= UINT64_C(1) << 48);
    struct model m = model_of(&drbg);
    uint8_t expected[OUT_LEN + 1];
    uint8_t out[OUT_LEN + 1];
    uint8_t prepared[48];
    uint8_t fresh_word[DRNG_REQUEST_ENTROPY_LEN];
    uint8_t input_bytes[INPUT_LEN + 1];
    const struct drng_bytes additional = {input_bytes, INPUT_LEN};
    const uint8_t *fresh = FRESH ? fresh_word : NULL;
    choose_derived();
    ANY(out);
    expected[OUT_LEN] = out[OUT_LEN];

    const enum drng_result result = drng_ctr_drbg_generate(&drbg, out, OUT_LEN, additional, fresh);

    CLAIM(result == DRNG_OK, "the request is served");
    prepare(&drbg, prepared, additional);
    for (size_t i = 0; FRESH && i < sizeof(fresh_word); i++) {
        prepared[i] ^= fresh_word[i];
    }
    if (INPUT_LEN > 0 || FRESH) {
        model_update(&m, prepared); /* 10.2.1.5, step 2 */
    }
    model_generate(&m, expected, OUT_LEN, prepared);
    bool same = true;
    for (size_t i = 0; i <= OUT_LEN; i++) {
        same = same && out[i] == expected[i];
    }
    CLAIM(same, "the output is the standard's, and nothing is written behind it");
    claim_same(&drbg, &m);
    CLAIM(df_calls == (USE_DF && INPUT_LEN > 0 ? 1 : 0) &&
              (df_calls == 0 || (df_count == 1 && is_same(df_inputs[0], additional))),
          "df derives the additional input");
    REACHED("a served request");
}

/* ---- Instantiate and reseed ---- */

static bool any_fits(const struct drng_ctr_drbg *drbg, size_t entropy, size_t nonce, size_t more)
{
    const size_t seedlen = (size_t)drbg->key_len + BLOCK;
    if (!drbg->use_df) {
        return entropy == seedlen && nonce == 0 && more <= seedlen;
    }
    return entropy >= drbg->key_len && entropy <= INT32_MAX && nonce <= INT32_MAX && more <= INT32_MAX &&
           (u128)entropy + nonce + more <= UINT32_MAX;
}

/* Without df only lengths up to seedlen are read, with df none: so lengths may be anything, and data 48 bytes. */
static struct drng_bytes any_input(uint8_t bytes[48])
{
    return (struct drng_bytes){bytes, nondet_size()};
}

void prove_instantiate(void)
{
    uint8_t entropy_bytes[48];
    uint8_t nonce_bytes[48];
    uint8_t personalization_bytes[48];
    const struct drng_bytes entropy = any_input(entropy_bytes);
    const struct drng_bytes nonce = any_input(nonce_bytes);
    const struct drng_bytes personalization = any_input(personalization_bytes);
    const size_t key_len = KEY_LEN;
    const bool use_df = nondet_bool();
    const time_t now = nondet_long();
    uint8_t material[48];
    struct drng_ctr_drbg drbg;
    ANY(drbg);
    choose_derived();

    const enum drng_result result =
        drng_ctr_drbg_instantiate(&drbg, &any_aes, key_len, use_df, entropy, nonce, personalization, now);

    const struct drng_ctr_drbg asked = {.key_len = (uint8_t)key_len, .use_df = use_df};
    if (!any_fits(&asked, entropy.len, nonce.len, personalization.len)) {
        CLAIM(result == DRNG_BAD_LENGTH, "lengths outside the limits are refused");
        CLAIM(zero_at_any(&drbg, sizeof(drbg)), "a refused instantiation leaves zeros");
        REACHED("a refused instantiation");
        return;
    }
    CLAIM(result == DRNG_OK, "lengths within the limits are served");
    struct model m = {.key_len = key_len};
    for (size_t i = 0; i < 48; i++) {
        material[i] = 0;
        if (use_df && i < key_len + BLOCK) {
            material[i] = derived[i];
        } else if (!use_df && i < key_len + BLOCK) {
            material[i] = entropy.data[i] ^ (i < personalization.len ? personalization.data[i] : 0);
        }
    }
    model_update(&m, material);
    m.reseed_counter = 1;
    claim_same(&drbg, &m);
    CLAIM(drbg.aes == &any_aes && drbg.key_len == key_len && drbg.use_df == use_df && drbg.reseed_time == now,
          "the mechanism is the one that was asked for");
    CLAIM(!use_df || (df_count == 3 && is_same(df_inputs[0], entropy) && is_same(df_inputs[1], nonce) &&
                      is_same(df_inputs[2], personalization)),
          "seed_material = entropy_input || nonce || personalization_string");
    REACHED("an instantiation");
}

void prove_reseed(void)
{
    uint8_t entropy_bytes[48];
    uint8_t additional_bytes[48];
    const struct drng_bytes entropy = any_input(entropy_bytes);
    const struct drng_bytes additional = any_input(additional_bytes);
    const time_t now = nondet_long();
    uint8_t material[48];
    struct drng_ctr_drbg drbg = any_context();
    const struct drng_ctr_drbg before = drbg;
    struct model m = model_of(&drbg);
    choose_derived();

    const enum drng_result result = drng_ctr_drbg_reseed(&drbg, entropy, additional, now);

    const bool fits = any_fits(&before, entropy.len, 0, additional.len);
    CLAIM(result == (before.reseed_counter == 0 ? DRNG_RESEED_NEEDED
                     : fits                     ? DRNG_OK
                                                : DRNG_BAD_LENGTH),
          "a reseed takes a seed, and inputs within their lengths");
    CLAIM(drbg.aes == before.aes && drbg.key_len == before.key_len && drbg.use_df == before.use_df,
          "the mechanism stays");
    if (result != DRNG_OK) {
        claim_same(&drbg, &m);
        CLAIM(drbg.reseed_time == before.reseed_time, "a refused reseed changes nothing");
        REACHED("a refused reseed");
        return;
    }
    for (size_t i = 0; i < 48; i++) {
        material[i] = 0;
        if (before.use_df && i < (size_t)before.key_len + BLOCK) {
            material[i] = derived[i];
        } else if (!before.use_df && i < (size_t)before.key_len + BLOCK) {
            material[i] = entropy.data[i] ^ (i < additional.len ? additional.data[i] : 0);
        }
    }
    model_update(&m, material);
    m.reseed_counter = 1;
    claim_same(&drbg, &m);
    CLAIM(drbg.reseed_time == now, "the seed's time is noted");
    CLAIM(!before.use_df || (df_count == 2 && is_same(df_inputs[0], entropy) && is_same(df_inputs[1], additional)),
          "seed_material = entropy_input || additional_input");
    REACHED("a reseed");
}

/* ---- The rest ---- */

void prove_uninstantiate(void)
{
    struct drng_ctr_drbg drbg;
    ANY(drbg);
    drng_ctr_drbg_uninstantiate(&drbg);
    uint8_t left = 0;
    for (size_t i = 0; i < sizeof(drbg); i++) {
        left |= ((const uint8_t *)&drbg)[i];
    }
    CLAIM(left == 0, "Key and V are zero after uninstantiate");
    REACHED("uninstantiated");
}

/* Whatever the clock says, and whatever the limits are. */
void prove_reseed_due(void)
{
    struct drng_ctr_drbg drbg;
    struct drng_reseed_limits limits;
    ANY(drbg);
    ANY(limits);
    const time_t now = nondet_long();
    ASSUME(now >= 0 && drbg.reseed_time >= 0 && limits.interval >= 0);
    const size_t len = at_most(DRNG_DRBG_MAX_REQUEST);
    ASSUME(drbg.generated <= UINT64_MAX - DRNG_DRBG_MAX_REQUEST); /* 2^48 requests are fewer bytes by one request */
    const bool due = drng_ctr_drbg_reseed_due(&drbg, &limits, len, now);
    CLAIM(due || limits.requests == 0 || drbg.reseed_counter < limits.requests, "no request beyond the limit");
    CLAIM(due || limits.interval == 0 || (now >= drbg.reseed_time && now - drbg.reseed_time < limits.interval),
          "no request after the interval, and none when the clock was set back");
    CLAIM(due || limits.bytes == 0 || (drbg.generated <= limits.bytes && len <= limits.bytes - drbg.generated),
          "no byte beyond the limit");
    CLAIM(due || drbg.reseed_counter <= UINT64_C(1) << 48, "the standard's limit always holds");
    CLAIM(due || drbg.reseed_counter != 0, "no request without a seed");
    CLAIM(!due || drbg.reseed_counter == 0 || drbg.reseed_counter > UINT64_C(1) << 48 || limits.requests != 0 ||
              limits.interval != 0 || limits.bytes != 0,
          "limits of 0 make no reseed due");
    REACHED("an answer");
}
