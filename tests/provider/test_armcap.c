/* SPDX-License-Identifier: Apache-2.0 */
/* OPENSSL_armcap: what it leaves of the CPU, and that a set-user-ID program ignores it. */

#include <stdlib.h>

#include "provider/masks.h"
#include "tests/unit/unit.h"

enum { AES = 1 << 2, RNG = 1 << 8, RNG_BIT = 8 };

/* As in arm.c. */
const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {[0] = {.mask_bit = RNG_BIT}};

/* In place of the C library's, by the linker; NULL is its answer in a set-user-ID program. */
char *__real_secure_getenv(const char *name);

static bool set_user_id;

char *__wrap_secure_getenv(const char *name)
{
    return set_user_id ? NULL : __real_secure_getenv(name);
}

/* As C reads numbers, and in 32 bits: crypto/armcap.c in libcrypto. What is no number masks everything. */
UNIT_TEST("the value is read as libcrypto reads it")
{
    static const struct {
        const char *value;
        uint32_t left;
    } cases[] = {
        {NULL, UINT32_MAX},
        {"0", 0},
        {"4", 4},
        {"0x3d", 0x3d},
        {"0X3D", 0x3d},
        {"075", 0x3d},
        {"", 0},
        {"x", 0},
        {"~4", 0},
        {" \t7", 7},
        {"+7", 7},
        {"-1", UINT32_MAX},
        {"-5", UINT32_MAX - 4},
        {"7 and more", 7},
        {"7:0", 7},
        {"08", 0},
        {"0x", 0},
        {"0xffffffff", UINT32_MAX},
        {"0x100000004", 4},
        {"0x1000000000000000000000000", UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CU_ASSERT_EQUAL(drng_masks_read(cases[i].value, false).word[0], cases[i].left);
    }
}

static bool is_left(bool has_aes, uint32_t left)
{
    struct drng_evidence evidence = {.cpu = {.aes = has_aes}};
    drng_masks_mask(&evidence, &(struct drng_masks){{left}});
    return evidence.cpu.aes;
}

UNIT_TEST("the bit of AES decides and adds none")
{
    CU_ASSERT_TRUE(is_left(true, AES));
    CU_ASSERT_TRUE(is_left(true, UINT32_MAX));
    CU_ASSERT_FALSE(is_left(true, 0));
    CU_ASSERT_FALSE(is_left(true, ~(uint32_t)AES));
    CU_ASSERT_FALSE(is_left(false, UINT32_MAX));
    CU_ASSERT_FALSE(is_left(false, 0));
}

UNIT_TEST("the bit of RNDR masks its instructions")
{
    struct drng_evidence evidence = {.cpu = {.has[0] = true, .aes = true}};
    drng_masks_mask(&evidence, &(struct drng_masks){{RNG}});
    CU_ASSERT_FALSE(evidence.cpu.aes);
    CU_ASSERT_FALSE(evidence.masked[0]);
    drng_masks_mask(&evidence, &(struct drng_masks){{~(uint32_t)RNG}});
    CU_ASSERT_TRUE(evidence.masked[0]);
    evidence.cpu.has[0] = false;
    drng_masks_mask(&evidence, &(struct drng_masks){{0}});
    CU_ASSERT_FALSE(evidence.masked[0]);
}

static bool is_left_by_the_environment(void)
{
    struct drng_evidence evidence = {.cpu = {.aes = true}};
    drng_masks_apply(&evidence, NULL);
    return evidence.cpu.aes;
}

UNIT_TEST("the environment is read")
{
    CU_ASSERT_EQUAL(unsetenv("OPENSSL_armcap"), 0);
    CU_ASSERT_TRUE(is_left_by_the_environment());
    CU_ASSERT_EQUAL(setenv("OPENSSL_armcap", "0", 1), 0);
    CU_ASSERT_FALSE(is_left_by_the_environment());
    CU_ASSERT_EQUAL(setenv("OPENSSL_armcap", "0x4", 1), 0);
    CU_ASSERT_TRUE(is_left_by_the_environment());
}

/* Who starts one does not choose what it runs. libcrypto itself obeys. */
UNIT_TEST("a set-user-ID program ignores it")
{
    CU_ASSERT_EQUAL(setenv("OPENSSL_armcap", "0", 1), 0);
    CU_ASSERT_FALSE(is_left_by_the_environment());
    set_user_id = true;
    CU_ASSERT_TRUE(is_left_by_the_environment());
    set_user_id = false;
}

UNIT_MAIN("OPENSSL_armcap")
