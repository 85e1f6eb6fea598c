/* SPDX-License-Identifier: Apache-2.0 */
/* Each function of CTR_DRBG goes wrong in turn, for each size of key, with and without df: the self-test finds it. */

#include <stdlib.h>
#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/drbg/self_test.h"
#include "tests/unit/unit.h"

/* What is wrong, for which kind of generator. */
static struct {
    const char *fault; /* one of the names below, compared as pointers; NULL: nothing */
    size_t key_len;
    bool use_df;
} wrong;

static const char no_entropy[] = "instantiate ignores its entropy";
static const char no_nonce[] = "instantiate ignores its nonce";
static const char no_personalization[] = "instantiate ignores its personalization string";
static const char takes_short_entropy[] = "instantiate takes too little entropy";
static const char no_new_entropy[] = "reseed ignores its entropy";
static const char no_input_at_reseed[] = "reseed ignores its additional input";
static const char forgets[] = "reseed forgets the state before it";
static const char does_not_reseed[] = "reseed does nothing";
static const char takes_short_reseed[] = "reseed takes too little entropy";
static const char no_input[] = "generate ignores its additional input";
static const char repeats[] = "generate does not update the state";
static const char serves_unseeded[] = "generate serves without a seed";
static const char leaves_output[] = "generate leaves its output where it refuses";
static const char keeps_all[] = "uninstantiate does nothing";
static const char keeps_v[] = "uninstantiate leaves V";

static const uint8_t zeros[64];

static bool is(const char *fault, const struct drng_ctr_drbg *drbg)
{
    return wrong.fault == fault && drbg->key_len == wrong.key_len && drbg->use_df == wrong.use_df;
}

/* As long as they were. */
static struct drng_bytes without(struct drng_bytes bytes)
{
    return (struct drng_bytes){zeros, bytes.len};
}

static struct drng_bytes longer(struct drng_bytes bytes)
{
    return (struct drng_bytes){bytes.data, bytes.len + 1};
}

/* ---- In the place of ctr_drbg.c's ---- */

enum drng_result __real_drng_ctr_drbg_instantiate(struct drng_ctr_drbg *drbg, const struct drng_aes *aes,
                                                  size_t key_len, bool use_df, struct drng_bytes entropy,
                                                  struct drng_bytes nonce, struct drng_bytes personalization,
                                                  time_t now);
enum drng_result __real_drng_ctr_drbg_reseed(struct drng_ctr_drbg *drbg, struct drng_bytes entropy,
                                             struct drng_bytes additional, time_t now);
enum drng_result __real_drng_ctr_drbg_generate_any(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                                   struct drng_bytes additional, const uint8_t *fresh);
void __real_drng_ctr_drbg_uninstantiate(struct drng_ctr_drbg *drbg);

enum drng_result __wrap_drng_ctr_drbg_instantiate(struct drng_ctr_drbg *drbg, const struct drng_aes *aes,
                                                  size_t key_len, bool use_df, struct drng_bytes entropy,
                                                  struct drng_bytes nonce, struct drng_bytes personalization,
                                                  time_t now)
{
    const struct drng_ctr_drbg kind = {.key_len = (uint8_t)key_len, .use_df = use_df};
    const size_t least = use_df ? key_len : DRNG_DRBG_SEEDLEN(key_len);
    entropy = is(no_entropy, &kind) ? without(entropy) : entropy;
    nonce = is(no_nonce, &kind) ? without(nonce) : nonce;
    personalization = is(no_personalization, &kind) ? without(personalization) : personalization;
    entropy = is(takes_short_entropy, &kind) && entropy.len < least ? longer(entropy) : entropy;
    return __real_drng_ctr_drbg_instantiate(drbg, aes, key_len, use_df, entropy, nonce, personalization, now);
}

enum drng_result __wrap_drng_ctr_drbg_reseed(struct drng_ctr_drbg *drbg, struct drng_bytes entropy,
                                             struct drng_bytes additional, time_t now)
{
    const size_t least = drbg->use_df ? drbg->key_len : DRNG_DRBG_SEEDLEN(drbg->key_len);
    if (is(does_not_reseed, drbg) && entropy.len >= least) {
        return DRNG_OK;
    }
    if (is(forgets, drbg)) {
        memset(drbg->key, 0, sizeof(drbg->key));
        memset(drbg->v, 0, sizeof(drbg->v));
    }
    entropy = is(no_new_entropy, drbg) ? without(entropy) : entropy;
    entropy = is(takes_short_reseed, drbg) && entropy.len < least ? longer(entropy) : entropy;
    additional = is(no_input_at_reseed, drbg) ? without(additional) : additional;
    return __real_drng_ctr_drbg_reseed(drbg, entropy, additional, now);
}

static struct drng_ctr_drbg last; /* which generator was in use */

enum drng_result __wrap_drng_ctr_drbg_generate_any(struct drng_ctr_drbg *drbg, uint8_t *out, size_t out_len,
                                                   struct drng_bytes additional, const uint8_t *fresh)
{
    const struct drng_ctr_drbg before = *drbg;
    if (drbg->reseed_counter == 0) {
        if (is(serves_unseeded, &last)) {
            return DRNG_OK;
        }
        if (is(leaves_output, &last)) {
            return DRNG_RESEED_NEEDED;
        }
    }
    additional = is(no_input, drbg) ? without(additional) : additional;
    const enum drng_result status = __real_drng_ctr_drbg_generate_any(drbg, out, out_len, additional, fresh);
    if (is(repeats, &before)) {
        memcpy(drbg->key, before.key, sizeof(before.key));
        memcpy(drbg->v, before.v, sizeof(before.v));
    }
    return status;
}

void __wrap_drng_ctr_drbg_uninstantiate(struct drng_ctr_drbg *drbg)
{
    uint8_t v[sizeof(drbg->v)];
    memcpy(v, drbg->v, sizeof(v));
    last = *drbg;
    if (is(keeps_all, drbg)) {
        return;
    }
    const bool keeps = is(keeps_v, drbg);
    __real_drng_ctr_drbg_uninstantiate(drbg);
    if (keeps) {
        memcpy(drbg->v, v, sizeof(v));
    }
}

/* ---- Whether the self-test finds it ---- */

static bool is_found(const char *fault, size_t key_len, bool use_df)
{
    const char *what = NULL;
    wrong.fault = fault;
    wrong.key_len = key_len;
    wrong.use_df = use_df;
    const bool found = drng_self_test(&drng_aes_portable, key_len, false, &what) == DRNG_SELF_TEST_FAILED &&
                       what != NULL && strcmp(what, "CTR_DRBG") == 0;
    wrong.fault = NULL;
    if (!found) {
        (void)fprintf(stderr, "\n    not found: %s, AES-%zu, %s df", fault, 8 * key_len, use_df ? "with" : "without");
    }
    return found;
}

UNIT_TEST("right functions pass")
{
    const char *what = "untouched";
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        CU_ASSERT_EQUAL(drng_self_test(&drng_aes_portable, key_len, false, &what), DRNG_OK);
        CU_ASSERT_PTR_NULL(what);
    }
}

UNIT_TEST("every wrong function is found")
{
    static const char *const faults[] = {
        no_entropy,      no_personalization, takes_short_entropy,
        no_new_entropy,  no_input_at_reseed, forgets,
        does_not_reseed, takes_short_reseed, no_input,
        repeats,         keeps_all,          keeps_v,
        serves_unseeded, leaves_output,
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        for (size_t key_len = 16; key_len <= 32; key_len += 8) {
            CU_ASSERT_TRUE(is_found(faults[i], key_len, true));
            CU_ASSERT_TRUE(is_found(faults[i], key_len, false));
        }
    }
    /* Without df there is no nonce. */
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        CU_ASSERT_TRUE(is_found(no_nonce, key_len, true));
    }
}

int main(void)
{
    return unit_run("self-test of the functions");
}
