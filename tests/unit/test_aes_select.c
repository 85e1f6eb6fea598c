/* SPDX-License-Identifier: Apache-2.0 */
/* Which implementation of AES serves on which CPU. */

#include "mixing/aes/aes.h"
#include "tests/unit/unit.h"

/* The fastest, which serves if its self-test passes. */
static const struct drng_aes *last_for(const struct drng_cpu *cpu)
{
    const struct drng_aes *all[DRNG_AES_KINDS] = {NULL};
    return all[drng_aes_all(cpu, all) - 1];
}

UNIT_TEST("a CPU with nothing gets plain C alone")
{
    const struct drng_cpu cpu = {.aes = false};
    const struct drng_aes *all[DRNG_AES_KINDS] = {NULL};
    CU_ASSERT_EQUAL(drng_aes_all(&cpu, all), 1);
    CU_ASSERT_PTR_EQUAL(all[0], &drng_aes_portable);
    CU_ASSERT_PTR_NULL(all[1]);
    CU_ASSERT_PTR_EQUAL(last_for(&cpu), &drng_aes_portable);
}

UNIT_TEST("each feature adds one, and the fastest comes last")
{
    static const struct drng_aes *const order[] = {&drng_aes_portable, &drng_aes_ni, &drng_aes_avx, &drng_aes_vaes256,
                                                   &drng_aes_vaes512};
    for (size_t wanted = 1; wanted <= DRNG_AES_KINDS; wanted++) {
        const struct drng_cpu cpu = {
            .aes = wanted > 1, .avx = wanted > 2, .vaes256 = wanted > 3, .vaes512 = wanted > 4};
        const struct drng_aes *all[DRNG_AES_KINDS] = {NULL};
        CU_ASSERT_EQUAL_FATAL(drng_aes_all(&cpu, all), wanted);
        for (size_t i = 0; i < wanted; i++) {
            CU_ASSERT_PTR_EQUAL(all[i], order[i]);
        }
        CU_ASSERT_PTR_EQUAL(last_for(&cpu), order[wanted - 1]);
    }
}

UNIT_TEST("other flags change nothing")
{
    const struct drng_cpu cpu = {.vendor = "GenuineIntel", .hypervisor = true, .has = {true, true}};
    CU_ASSERT_PTR_EQUAL(last_for(&cpu), &drng_aes_portable);
}

UNIT_TEST("every implementation has a name and its functions")
{
    static const struct {
        const struct drng_aes *aes;
        const char *name;
    } expected[] = {{&drng_aes_portable, "portable"},
                    {&drng_aes_ni, "AES-NI"},
                    {&drng_aes_avx, "AES-NI"},
                    {&drng_aes_vaes256, "VAES-256"},
                    {&drng_aes_vaes512, "VAES-512"}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        CU_ASSERT_STRING_EQUAL(expected[i].aes->name, expected[i].name);
        CU_ASSERT_TRUE(expected[i].aes->ctr != NULL && expected[i].aes->cbc != NULL);
        CU_ASSERT_EQUAL(expected[i].aes->request != NULL, expected[i].aes->short_len > 0);
    }
}

UNIT_MAIN("choice of AES")
