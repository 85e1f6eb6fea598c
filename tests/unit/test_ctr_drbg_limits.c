/* SPDX-License-Identifier: Apache-2.0 */
/* CTR_DRBG's limits: every length at its limit and one beyond, and when a seed is due. */

#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { BEFORE = 0xaa, NOW = 1000000 };

/* As long as any input whose bytes are looked at; longer ones are refused unread. */
static const uint8_t data[128];
static const struct drng_bytes none = {NULL, 0};
static const size_t too_long = (size_t)DRNG_DRBG_MAX_INPUT + 1;

static struct drng_bytes of_length(size_t len)
{
    return (struct drng_bytes){data, len};
}

/* The same tests for each key size. */
static void for_each_key_len(void (*run)(size_t key_len))
{
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        run(key_len);
    }
}

/* ---- Instantiate ---- */

static enum drng_result instantiate(struct drng_ctr_drbg *drbg, size_t key_len, bool use_df, size_t entropy_len,
                                    size_t nonce_len, size_t personalization_len)
{
    memset(drbg, BEFORE, sizeof(*drbg));
    return drng_ctr_drbg_instantiate(drbg, &drng_aes_portable, key_len, use_df, of_length(entropy_len),
                                     of_length(nonce_len), of_length(personalization_len), NOW);
}

static bool takes(size_t key_len, bool use_df, size_t entropy_len, size_t nonce_len, size_t personalization_len)
{
    struct drng_ctr_drbg drbg;
    return instantiate(&drbg, key_len, use_df, entropy_len, nonce_len, personalization_len) == DRNG_OK &&
           drbg.aes == &drng_aes_portable && drbg.key_len == key_len && drbg.use_df == use_df &&
           drbg.reseed_counter == 1 && drbg.reseed_time == NOW;
}

static bool refuses(size_t key_len, bool use_df, size_t entropy_len, size_t nonce_len, size_t personalization_len)
{
    struct drng_ctr_drbg drbg;
    return instantiate(&drbg, key_len, use_df, entropy_len, nonce_len, personalization_len) == DRNG_BAD_LENGTH &&
           bytes_are(&drbg, sizeof(drbg), 0);
}

static void instantiate_without_df(size_t key_len)
{
    const size_t seedlen = key_len + 16;
    CU_ASSERT_EQUAL(DRNG_DRBG_SEEDLEN(key_len), seedlen);
    CU_ASSERT_TRUE(takes(key_len, false, seedlen, 0, 0));
    CU_ASSERT_TRUE(takes(key_len, false, seedlen, 0, seedlen));
    CU_ASSERT_TRUE(refuses(key_len, false, seedlen - 1, 0, 0));
    CU_ASSERT_TRUE(refuses(key_len, false, seedlen + 1, 0, 0));
    CU_ASSERT_TRUE(refuses(key_len, false, 0, 0, 0));
    CU_ASSERT_TRUE(refuses(key_len, false, seedlen, 1, 0));
    CU_ASSERT_TRUE(refuses(key_len, false, seedlen, 0, seedlen + 1));
}

static void instantiate_with_df(size_t key_len)
{
    CU_ASSERT_TRUE(takes(key_len, true, key_len, 0, 0));
    CU_ASSERT_TRUE(takes(key_len, true, sizeof(data), sizeof(data), sizeof(data)));
    CU_ASSERT_TRUE(refuses(key_len, true, key_len - 1, key_len, 0));
    CU_ASSERT_TRUE(refuses(key_len, true, 0, key_len, 0));
    CU_ASSERT_TRUE(refuses(key_len, true, too_long, 0, 0));
    CU_ASSERT_TRUE(refuses(key_len, true, key_len, too_long, 0));
    CU_ASSERT_TRUE(refuses(key_len, true, key_len, 0, too_long));
}

UNIT_TEST("instantiate keeps to the lengths")
{
    for_each_key_len(instantiate_without_df);
    for_each_key_len(instantiate_with_df);
}

/* ---- Reseed ---- */

static struct drng_ctr_drbg started(size_t key_len, bool use_df)
{
    struct drng_ctr_drbg drbg;
    CU_ASSERT_EQUAL_FATAL(instantiate(&drbg, key_len, use_df, use_df ? key_len : key_len + 16, 0, 0), DRNG_OK);
    return drbg;
}

static enum drng_result reseed(size_t key_len, bool use_df, size_t entropy_len, size_t additional_len)
{
    struct drng_ctr_drbg drbg = started(key_len, use_df);
    return drng_ctr_drbg_reseed(&drbg, of_length(entropy_len), of_length(additional_len), NOW);
}

static void reseed_with_lengths(size_t key_len)
{
    const size_t seedlen = key_len + 16;
    CU_ASSERT_EQUAL(reseed(key_len, false, seedlen, 0), DRNG_OK);
    CU_ASSERT_EQUAL(reseed(key_len, false, seedlen, seedlen), DRNG_OK);
    CU_ASSERT_EQUAL(reseed(key_len, false, seedlen - 1, 0), DRNG_BAD_LENGTH);
    CU_ASSERT_EQUAL(reseed(key_len, false, seedlen + 1, 0), DRNG_BAD_LENGTH);
    CU_ASSERT_EQUAL(reseed(key_len, false, seedlen, seedlen + 1), DRNG_BAD_LENGTH);

    CU_ASSERT_EQUAL(reseed(key_len, true, key_len, 0), DRNG_OK);
    CU_ASSERT_EQUAL(reseed(key_len, true, sizeof(data), sizeof(data)), DRNG_OK);
    CU_ASSERT_EQUAL(reseed(key_len, true, key_len - 1, 0), DRNG_BAD_LENGTH);
    CU_ASSERT_EQUAL(reseed(key_len, true, too_long, 0), DRNG_BAD_LENGTH);
    CU_ASSERT_EQUAL(reseed(key_len, true, key_len, too_long), DRNG_BAD_LENGTH);
}

UNIT_TEST("reseed keeps to the lengths")
{
    for_each_key_len(reseed_with_lengths);
}

/* ---- Generate ---- */

static uint8_t out[DRNG_DRBG_MAX_REQUEST + 2];

/* Refused, with zeros in out and the state untouched. */
static bool generate_refuses(size_t key_len, bool use_df, size_t out_len, size_t additional_len)
{
    struct drng_ctr_drbg drbg = started(key_len, use_df);
    const struct drng_ctr_drbg before = drbg;
    memset(out, BEFORE, sizeof(out));
    return drng_ctr_drbg_generate(&drbg, out, out_len, of_length(additional_len), data) == DRNG_BAD_LENGTH &&
           bytes_are(out, out_len, 0) && bytes_are(out + out_len, sizeof(out) - out_len, BEFORE) &&
           memcmp(drbg.key, before.key, sizeof(drbg.key)) == 0 && memcmp(drbg.v, before.v, sizeof(drbg.v)) == 0 &&
           drbg.reseed_counter == before.reseed_counter;
}

static bool generate_takes(size_t key_len, bool use_df, size_t out_len, size_t additional_len)
{
    struct drng_ctr_drbg drbg = started(key_len, use_df);
    memset(out, 0, sizeof(out));
    return drng_ctr_drbg_generate(&drbg, out, out_len, of_length(additional_len), NULL) == DRNG_OK &&
           !bytes_are(out, out_len, 0) && !bytes_are(out + out_len - 8, 8, 0) &&
           bytes_are(out + out_len, sizeof(out) - out_len, 0) && drbg.reseed_counter == 2;
}

static void generate_with_lengths(size_t key_len)
{
    const size_t seedlen = key_len + 16;
    CU_ASSERT_TRUE(generate_takes(key_len, true, DRNG_DRBG_MAX_REQUEST, 0));
    CU_ASSERT_TRUE(generate_takes(key_len, true, 32, sizeof(data)));
    CU_ASSERT_TRUE(generate_refuses(key_len, true, DRNG_DRBG_MAX_REQUEST + 1, 0));
    CU_ASSERT_TRUE(generate_refuses(key_len, true, 32, too_long));

    CU_ASSERT_TRUE(generate_takes(key_len, false, DRNG_DRBG_MAX_REQUEST, 0));
    CU_ASSERT_TRUE(generate_takes(key_len, false, 32, seedlen));
    CU_ASSERT_TRUE(generate_refuses(key_len, false, DRNG_DRBG_MAX_REQUEST + 1, 0));
    CU_ASSERT_TRUE(generate_refuses(key_len, false, 32, seedlen + 1));
}

UNIT_TEST("generate keeps to the lengths")
{
    for_each_key_len(generate_with_lengths);
}

UNIT_TEST("generate wants a seed first")
{
    struct drng_ctr_drbg drbg;
    memset(&drbg, 0, sizeof(drbg));
    memset(out, BEFORE, sizeof(out));
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, 100, none, NULL), DRNG_RESEED_NEEDED);
    CU_ASSERT_TRUE(bytes_are(out, 100, 0));
    CU_ASSERT_EQUAL(out[100], BEFORE);

    drbg = started(32, true);
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, 100, none, NULL), DRNG_OK);
    drng_ctr_drbg_uninstantiate(&drbg);
    CU_ASSERT_TRUE(bytes_are(&drbg, sizeof(drbg), 0));
    CU_ASSERT_FALSE(bytes_are(out, 100, 0));
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, 100, none, data), DRNG_RESEED_NEEDED);
    CU_ASSERT_TRUE(bytes_are(out, 100, 0));
}

/* Table 3: 2^48 requests of one seed, the last of them included. */
UNIT_TEST("the last request of a seed is served, and no further")
{
    struct drng_ctr_drbg drbg = started(32, true);
    drbg.reseed_counter = DRNG_DRBG_MAX_REQUESTS;
    CU_ASSERT_EQUAL(DRNG_DRBG_MAX_REQUESTS, 281474976710656);
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, 100, none, NULL), DRNG_OK);
    CU_ASSERT_FALSE(bytes_are(out, 100, 0));
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, 100, none, NULL), DRNG_RESEED_NEEDED);
    CU_ASSERT_TRUE(bytes_are(out, 100, 0));
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, 100, none, data), DRNG_RESEED_NEEDED);
    CU_ASSERT_EQUAL(drng_ctr_drbg_reseed(&drbg, of_length(32), none, NOW), DRNG_OK);
    CU_ASSERT_EQUAL(drng_ctr_drbg_generate(&drbg, out, 100, none, NULL), DRNG_OK);
}

/* ---- When a seed is due ---- */

static bool due(uint64_t reseed_counter, unsigned requests, time_t interval, time_t now)
{
    const struct drng_ctr_drbg drbg = {.reseed_counter = reseed_counter, .reseed_time = NOW};
    const struct drng_reseed_limits limits = {.requests = requests, .interval = interval};
    return drng_ctr_drbg_reseed_due(&drbg, &limits, DRNG_DRBG_MAX_REQUEST, now);
}

UNIT_TEST("a seed is due at the request of that number")
{
    CU_ASSERT_FALSE(due(1, 256, 0, NOW));
    CU_ASSERT_FALSE(due(255, 256, 0, NOW));
    CU_ASSERT_TRUE(due(256, 256, 0, NOW));
    CU_ASSERT_TRUE(due(257, 256, 0, NOW));
    CU_ASSERT_TRUE(due(1, 1, 0, NOW));
}

UNIT_TEST("a seed is due when its time is over")
{
    CU_ASSERT_FALSE(due(1, 0, 3600, NOW));
    CU_ASSERT_FALSE(due(1, 0, 3600, NOW + 3599));
    CU_ASSERT_TRUE(due(1, 0, 3600, NOW + 3600));
    CU_ASSERT_TRUE(due(1, 0, 3600, NOW + 1000000));
}

UNIT_TEST("a clock set back makes a seed due")
{
    CU_ASSERT_TRUE(due(1, 0, 3600, NOW - 1));
    CU_ASSERT_TRUE(due(1, 0, 3600, 0));
    /* Where time does not count, no clock does. */
    CU_ASSERT_FALSE(due(1, 0, 0, NOW - 1));
}

UNIT_TEST("zero means never, but for the standard's own limit")
{
    CU_ASSERT_FALSE(due(1000000, 0, 0, NOW + 1000000));
    CU_ASSERT_FALSE(due(DRNG_DRBG_MAX_REQUESTS, 0, 0, NOW));
    CU_ASSERT_TRUE(due(DRNG_DRBG_MAX_REQUESTS + 1, 0, 0, NOW));
    CU_ASSERT_TRUE(due(DRNG_DRBG_MAX_REQUESTS + 1, 0, 3600, NOW));
}

UNIT_TEST("a seed is due where its bytes would not do")
{
    const struct drng_reseed_limits limits = {.bytes = 16384};
    struct drng_ctr_drbg drbg = {.reseed_counter = 2, .generated = 16000};
    CU_ASSERT_FALSE(drng_ctr_drbg_reseed_due(&drbg, &limits, 384, NOW));
    CU_ASSERT_TRUE(drng_ctr_drbg_reseed_due(&drbg, &limits, 385, NOW));
    drbg.generated = 16384;
    CU_ASSERT_FALSE(drng_ctr_drbg_reseed_due(&drbg, &limits, 0, NOW));
    CU_ASSERT_TRUE(drng_ctr_drbg_reseed_due(&drbg, &limits, 1, NOW));
    drbg.generated = 20000; /* where the limit was lowered */
    CU_ASSERT_TRUE(drng_ctr_drbg_reseed_due(&drbg, &limits, 0, NOW));
}

UNIT_TEST("either limit suffices")
{
    CU_ASSERT_FALSE(due(255, 256, 3600, NOW + 3599));
    CU_ASSERT_TRUE(due(256, 256, 3600, NOW));
    CU_ASSERT_TRUE(due(1, 256, 3600, NOW + 3600));
}

int main(void)
{
    return unit_run("CTR_DRBG's limits");
}
