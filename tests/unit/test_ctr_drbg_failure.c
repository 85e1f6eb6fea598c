/* CTR_DRBG on an AES that fails at its n-th call, for every n: nothing of the output or the state is left. */

#include <string.h>

#include "mixing/aes/libcrypto.h"
#include "mixing/drbg/ctr_drbg.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fake_aes.h"
#include "tests/unit/unit.h"

enum { BEFORE = 0x5c, OUT_LEN = 100 };

static const uint8_t data[64] = {1, 2, 3};
static uint8_t out[OUT_LEN];

static struct drng_bytes of_length(size_t len)
{
    return (struct drng_bytes){data, len};
}

static size_t entropy_len(size_t key_len, bool use_df)
{
    return use_df ? key_len : drng_ctr_drbg_seedlen(key_len);
}

/* ---- What can be asked of a DRBG that is instantiated ---- */

typedef enum drng_result operation(struct drng_ctr_drbg *drbg);

static enum drng_result instantiate_again(struct drng_ctr_drbg *drbg)
{
    const size_t len = entropy_len(drbg->key_len, drbg->use_df);
    return drng_ctr_drbg_instantiate(drbg, &fake_aes, drbg->key_len, drbg->use_df, of_length(len), of_length(0),
                                     of_length(20), 0);
}

static enum drng_result reseed(struct drng_ctr_drbg *drbg)
{
    return drng_ctr_drbg_reseed(drbg, of_length(entropy_len(drbg->key_len, drbg->use_df)), of_length(20), 0);
}

static enum drng_result generate(struct drng_ctr_drbg *drbg)
{
    return drng_ctr_drbg_generate(drbg, out, OUT_LEN, of_length(0), NULL);
}

static enum drng_result generate_with_additional_input(struct drng_ctr_drbg *drbg)
{
    return drng_ctr_drbg_generate(drbg, out, OUT_LEN, of_length(20), NULL);
}

static enum drng_result generate_with_fresh_bytes(struct drng_ctr_drbg *drbg)
{
    return drng_ctr_drbg_generate(drbg, out, OUT_LEN, of_length(0), data);
}

static enum drng_result generate_with_both(struct drng_ctr_drbg *drbg)
{
    return drng_ctr_drbg_generate(drbg, out, OUT_LEN, of_length(20), data);
}

/* ---- Every call of AES fails once ---- */

static enum drng_result run(operation *asked, struct drng_ctr_drbg *drbg, size_t key_len, bool use_df,
                            unsigned fails_at)
{
    fake_aes_script = (struct fake_aes_script){0};
    CU_ASSERT_EQUAL_FATAL(drng_ctr_drbg_instantiate(drbg, &fake_aes, key_len, use_df,
                                                    of_length(entropy_len(key_len, use_df)), of_length(0), of_length(0),
                                                    0),
                          DRNG_OK);
    memset(out, BEFORE, sizeof(out));
    fake_aes_script = (struct fake_aes_script){.fails_at = fails_at};
    return asked(drbg);
}

/* Returns how many calls of AES there are; out_value is what every byte of `out` is after a failure. */
static unsigned fail_each_call(operation *asked, size_t key_len, bool use_df, uint8_t out_value)
{
    struct drng_ctr_drbg drbg;
    CU_ASSERT_EQUAL(run(asked, &drbg, key_len, use_df, 0), DRNG_OK);
    CU_ASSERT_FALSE(bytes_are(&drbg, sizeof(drbg), 0));
    const unsigned calls = fake_aes_script.calls;
    for (unsigned call = 1; call <= calls; call++) {
        CU_ASSERT_EQUAL(run(asked, &drbg, key_len, use_df, call), DRNG_LIBCRYPTO_FAILED);
        CU_ASSERT_TRUE(bytes_are(&drbg, sizeof(drbg), 0));
        CU_ASSERT_TRUE(bytes_are(out, sizeof(out), out_value));
        /* Given up at once. */
        CU_ASSERT_EQUAL(fake_aes_script.calls, call);
    }
    return calls;
}

/* Without df AES is called for each Update alone; the last one shares its call with the output. */
static void fail_everywhere(operation *asked, uint8_t out_value, unsigned calls_without_df, bool derives)
{
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        CU_ASSERT_EQUAL(fail_each_call(asked, key_len, false, out_value), calls_without_df);
        const unsigned with_df = fail_each_call(asked, key_len, true, out_value);
        CU_ASSERT_EQUAL(with_df > calls_without_df, derives);
    }
}

static void a_failing_instantiate_leaves_zeros(void)
{
    fail_everywhere(instantiate_again, BEFORE, 1, true);
}

static void a_failing_reseed_leaves_zeros(void)
{
    fail_everywhere(reseed, BEFORE, 1, true);
}

static void a_failing_generate_leaves_zeros(void)
{
    fail_everywhere(generate, 0, 1, false);
}

static void a_failing_generate_with_additional_input_leaves_zeros(void)
{
    fail_everywhere(generate_with_additional_input, 0, 2, true);
}

static void a_failing_generate_with_fresh_bytes_leaves_zeros(void)
{
    fail_everywhere(generate_with_fresh_bytes, 0, 2, false);
}

static void a_failing_generate_with_both_leaves_zeros(void)
{
    fail_everywhere(generate_with_both, 0, 2, true);
}

static void after_a_failure_nothing_is_served_until_there_is_a_seed(void)
{
    struct drng_ctr_drbg drbg;
    CU_ASSERT_EQUAL(run(generate, &drbg, 32, true, 1), DRNG_LIBCRYPTO_FAILED);
    memset(out, BEFORE, sizeof(out));
    CU_ASSERT_EQUAL(generate(&drbg), DRNG_RESEED_NEEDED);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(run(generate, &drbg, 32, true, 0), DRNG_OK);
    CU_ASSERT_FALSE(bytes_are(out, sizeof(out), 0));
}

static const struct unit_test tests[] = {
    {"a failing instantiate leaves zeros", a_failing_instantiate_leaves_zeros},
    {"a failing reseed leaves zeros", a_failing_reseed_leaves_zeros},
    {"a failing generate leaves zeros", a_failing_generate_leaves_zeros},
    {"a failing generate with additional input leaves zeros", a_failing_generate_with_additional_input_leaves_zeros},
    {"a failing generate with fresh bytes leaves zeros", a_failing_generate_with_fresh_bytes_leaves_zeros},
    {"a failing generate with both leaves zeros", a_failing_generate_with_both_leaves_zeros},
    {"after a failure nothing is served until there is a seed",
     after_a_failure_nothing_is_served_until_there_is_a_seed},
};

int main(void)
{
    const int result = unit_run("CTR_DRBG on a failing AES", tests, sizeof(tests) / sizeof(*tests));
    drng_libcrypto_close();
    return result;
}
