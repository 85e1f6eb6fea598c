/* SPDX-License-Identifier: Apache-2.0 */
/* OPENSSL_s390xcap: what it leaves of PRNO-TRNG, and that a set-user-ID program ignores it. */

#include <stdio.h>
#include <stdlib.h>

#include "provider/masks.h"
#include "tests/unit/unit.h"

enum { TRNG_BIT = 64 + 13 };

/* As in z.c. */
const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {[0] = {.mask_bit = TRNG_BIT}};

/* In place of the C library's, by the linker; NULL is its answer in a set-user-ID program. */
char *__wrap_secure_getenv(const char *name);
char *__real_secure_getenv(const char *name);

static bool set_user_id;

char *__wrap_secure_getenv(const char *name)
{
    return set_user_id ? NULL : __real_secure_getenv(name);
}

static bool is_masked(const char *value)
{
    struct drng_evidence evidence = {.cpu = {.has[0] = true}};
    const struct drng_masks left = drng_masks_read(value, false);
    drng_masks_mask(&evidence, &left);
    return evidence.masked[0];
}

/* crypto/s390xcap.c in libcrypto: tokens between semicolons, of which a later one outdoes an earlier one. */
UNIT_TEST("the value is read as libcrypto reads it")
{
    static const struct {
        const char *value;
        bool masked;
    } cases[] = {
        {NULL, false},
        {"", false},
        {";", false},
        {"prno:~0x0:~0x2000", true},
        {"prno:~0:~2000", true},
        {"prno:0:0", true},
        {"prno:0:2000", false},
        {"prno:0:0X2000", false},
        {"prno:ffffffffffffffff:ffffffffffffdfff", true},
        {" prno : ~0 : ~2000 ", true},
        {"kimd:0:0", false},
        {"kimd:0:0;prno:0:0;km:~0:~0", true},
        {"prno:0:0;prno:0:~0", false},
        {"prno:0:~0;prno:0:0", true},
        /* Without MSA 5, facility 57, libcrypto does not ask PRNO. */
        {"stfle:0:0:0", true},
        {"stfle:~40:~0:~0", true},
        {"stfle:40:0:0", false},
        {"stfle:~0:~0:~0;prno:0:0", true},
        {"stfle:0", true},
        /* Models. */
        {"z13", true},
        {"zEC12", true},
        {"z14", false},
        {"z17", false},
        {"z13;prno:0:~0", false}, /* it has MSA 5 */
        {"zEC12;prno:0:~0", true},
        {"z14;prno:0:0", true},
        {"prno:0:0;z15", false},
        {"nocex;z196", true},
        {"prno:0:0;nocex", true},
        /* What is wrong anywhere is ignored as a whole. */
        {"z13;z99", false},
        {"prno:0:0;nonsense", false},
        {"nonsense;prno:0:0", false},
        {"prno:0", false},
        {"prno::0", false},
        {"prno:0:0 0", false},
        {"prno:x:0", false},
        {"prno:0:x", false},
        {"prno:0:0;kimd:x:0", false},
        {"PRNO:0:0", false},
        {"stfle:x", false},
        {"0", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (is_masked(cases[i].value) != cases[i].masked) {
            printf(" %s:", cases[i].value);
            CU_FAIL("read otherwise");
        }
    }
}

/* libcrypto reads fields of up to 128 characters. */
UNIT_TEST("a long field is no number")
{
    char value[400] = "prno:0:";
    for (size_t at = 7; at + 1 < sizeof(value); at++) {
        value[at] = '0';
    }
    CU_ASSERT_FALSE(is_masked(value));
}

UNIT_TEST("it adds nothing")
{
    struct drng_evidence evidence = {.cpu = {.has[0] = false}};
    const struct drng_masks left = drng_masks_read("prno:0:0", false);
    drng_masks_mask(&evidence, &left);
    CU_ASSERT_FALSE(evidence.masked[0]);
    CU_ASSERT_FALSE(evidence.cpu.has[0]);
}

static bool is_masked_by_the_environment(void)
{
    struct drng_evidence evidence = {.cpu = {.has[0] = true}};
    drng_masks_apply(&evidence, NULL);
    return evidence.masked[0];
}

/* Who starts a set-user-ID program does not choose what it runs. libcrypto itself obeys. */
UNIT_TEST("the environment is read but by a set-user-ID program")
{
    CU_ASSERT_EQUAL(unsetenv("OPENSSL_s390xcap"), 0);
    CU_ASSERT_FALSE(is_masked_by_the_environment());
    CU_ASSERT_EQUAL(setenv("OPENSSL_s390xcap", "prno:~0:~2000", 1), 0);
    CU_ASSERT_TRUE(is_masked_by_the_environment());
    set_user_id = true;
    CU_ASSERT_FALSE(is_masked_by_the_environment());
    set_user_id = false;
}

UNIT_MAIN("OPENSSL_s390xcap")
