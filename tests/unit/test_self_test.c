/* The self-test passes on what is right, and names what is wrong. */

#include <stdlib.h>
#include <string.h>

#include "mixing/aes/libcrypto.h"
#include "mixing/drbg/self_test.h"
#include "tests/unit/fake_aes.h"
#include "tests/unit/memory.h"
#include "tests/unit/unit.h"

static void it_passes_on_every_implementation(void)
{
    const struct drng_aes *all[DRNG_AES_KINDS];
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    const size_t count = drng_aes_all(&cpu, all);
    for (size_t i = 0; i < count; i++) {
        const char *what = "untouched";
        CU_ASSERT_EQUAL(drng_self_test(all[i], false, &what), DRNG_OK);
        CU_ASSERT_PTR_NULL(what);
        CU_ASSERT_EQUAL(drng_self_test(all[i], true, &what), DRNG_OK);
        CU_ASSERT_PTR_NULL(what);
    }
}

/* What a run with this script says is wrong. */
static const char *wrong_with(struct fake_aes_script script)
{
    const char *what = NULL;
    fake_aes_script = script;
    CU_ASSERT_EQUAL(drng_self_test(&fake_aes, false, &what), DRNG_SELF_TEST_FAILED);
    return what != NULL ? what : "nothing";
}

static void a_wrong_bit_in_one_key_size_is_found_and_named(void)
{
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        CU_ASSERT_STRING_EQUAL(wrong_with((struct fake_aes_script){.ctr_flips_key_len = key_len}), "AES");
        CU_ASSERT_STRING_EQUAL(wrong_with((struct fake_aes_script){.cbc_flips_key_len = key_len}), "AES");
    }
}

static unsigned calls_of_a_whole_run(void)
{
    const char *what = NULL;
    fake_aes_script = (struct fake_aes_script){0};
    CU_ASSERT_EQUAL(drng_self_test(&fake_aes, false, &what), DRNG_OK);
    return fake_aes_script.calls;
}

/* For each key size a call of cbc, one of ctr, and runs of ctr held against cbc; two of cbc; then CTR_DRBG. */
enum { RUNS = 6, BLOCKS_OF_RUNS = 4 + 8 + 12 + 20 + 31 + 72, AES_CALLS = 3 * (2 + RUNS + BLOCKS_OF_RUNS) };

static const char *name_of(unsigned call)
{
    const unsigned aes = AES_CALLS;
    return call <= aes ? "AES" : call <= aes + 2 ? "AES-CBC-MAC" : "CTR_DRBG";
}

static void a_wrong_bit_in_any_call_is_found_and_named(void)
{
    const unsigned calls = calls_of_a_whole_run();
    CU_ASSERT_TRUE(calls > AES_CALLS + 2);
    for (unsigned call = 1; call <= calls; call++) {
        CU_ASSERT_STRING_EQUAL(wrong_with((struct fake_aes_script){.flips_at = call}), name_of(call));
        /* Of the three blocks that make Key and V of AES-192, half of the last one is left over. */
        const struct fake_aes_script in_the_last_byte = {
            .flips_at = call, .flips_last = true, .spare_192 = call > AES_CALLS + 2 ? DRNG_AES_BLOCK / 2 : 0};
        CU_ASSERT_STRING_EQUAL(wrong_with(in_the_last_byte), name_of(call));
    }
}

static void a_failure_of_any_call_is_found_and_named(void)
{
    const unsigned calls = calls_of_a_whole_run();
    for (unsigned call = 1; call <= calls; call++) {
        CU_ASSERT_STRING_EQUAL(wrong_with((struct fake_aes_script){.fails_at = call}), name_of(call));
    }
}

static size_t wrong_from;
static size_t wrong_to;

/* What Debian 12's QEMU makes of VAES: the second block of each pair is the first one's. */
static enum drng_result ctr_wrong_when_wide(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    const enum drng_result status = drng_aes_evp.ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
    if (out_blocks >= wrong_from && out_blocks <= wrong_to) {
        memcpy(out + DRNG_AES_BLOCK, out, DRNG_AES_BLOCK);
    }
    return status;
}

static bool is_found(size_t from, size_t to)
{
    const struct drng_aes wide = {.name = "wrong when wide", .ctr = ctr_wrong_when_wide, .cbc = drng_aes_evp.cbc};
    const char *what = NULL;
    wrong_from = from;
    wrong_to = to;
    return drng_self_test(&wide, false, &what) == DRNG_SELF_TEST_FAILED && what != NULL && strcmp(what, "AES") == 0;
}

/* Those of long runs, and those of short requests, each of their two numbers of lanes. */
static void a_wrong_wide_register_is_found(void)
{
    CU_ASSERT_TRUE(is_found(32, SIZE_MAX));
    CU_ASSERT_TRUE(is_found(9, 12));
    CU_ASSERT_TRUE(is_found(13, 20));
}

static void the_choice_is_one_that_passes(void)
{
    const struct drng_cpu none = {.aes = false};
    const char *what = "untouched";
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    CU_ASSERT_PTR_EQUAL(drng_self_test_choose(&none, &what), &drng_aes_evp);
    CU_ASSERT_PTR_NULL(what);
    const struct drng_aes *chosen = drng_self_test_choose(&cpu, &what);
    CU_ASSERT_PTR_NOT_NULL_FATAL(chosen);
    CU_ASSERT_EQUAL(drng_self_test(chosen, false, &what), DRNG_OK);

    memory_fail(true);
    chosen = drng_self_test_choose(&none, &what);
    memory_fail(false);
    CU_ASSERT_PTR_NULL(chosen);
    CU_ASSERT_STRING_EQUAL(what != NULL ? what : "nothing", "AES");
}

/* AES that works whatever is the matter with libcrypto, so that HMAC alone fails. */
static enum drng_result ctr_with_memory(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                                        size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    memory_fail(false);
    const enum drng_result status = drng_aes_evp.ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
    memory_fail(true);
    return status;
}

static enum drng_result cbc_with_memory(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out,
                                        const uint8_t *in, size_t blocks)
{
    memory_fail(false);
    const enum drng_result status = drng_aes_evp.cbc(key, key_len, chain, out, in, blocks);
    memory_fail(true);
    return status;
}

static void a_failing_hmac_is_found_only_where_asked_for(void)
{
    const struct drng_aes aes = {.name = "with memory", .ctr = ctr_with_memory, .cbc = cbc_with_memory};
    const char *what = NULL;
    const enum drng_result with_hmac = drng_self_test(&aes, true, &what);
    memory_fail(false);
    CU_ASSERT_EQUAL(with_hmac, DRNG_SELF_TEST_FAILED);
    CU_ASSERT_STRING_EQUAL(what != NULL ? what : "nothing", "HMAC-SHA-256");

    const enum drng_result without_hmac = drng_self_test(&aes, false, &what);
    memory_fail(false);
    CU_ASSERT_EQUAL(without_hmac, DRNG_OK);
    CU_ASSERT_PTR_NULL(what);
}

static const struct unit_test tests[] = {
    {"it passes on every implementation", it_passes_on_every_implementation},
    {"a wrong bit in one key size is found and named", a_wrong_bit_in_one_key_size_is_found_and_named},
    {"a wrong bit in any call is found and named", a_wrong_bit_in_any_call_is_found_and_named},
    {"a failure of any call is found and named", a_failure_of_any_call_is_found_and_named},
    {"a wrong wide register is found", a_wrong_wide_register_is_found},
    {"the choice is one that passes", the_choice_is_one_that_passes},
    {"a failing HMAC is found only where asked for", a_failing_hmac_is_found_only_where_asked_for},
};

int main(void)
{
    if (!memory_install()) {
        return EXIT_FAILURE;
    }
    const int result = unit_run("self-test", tests, sizeof(tests) / sizeof(*tests));
    drng_libcrypto_close();
    return result;
}
