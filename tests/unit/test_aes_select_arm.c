/* SPDX-License-Identifier: Apache-2.0 */
/* Which implementation of AES serves on which CPU of 64-bit ARM, and what the kernel has said of this one. */

#include <sys/auxv.h>

#include "mixing/aes/aes.h"
#include "tests/unit/unit.h"

/* In place of the C library's, by the linker. */

static const unsigned long hwcap_aes = 1UL << 3; /* "Features: ... aes" in /proc/cpuinfo */

static unsigned long hwcap;

unsigned long __wrap_getauxval(unsigned long type)
{
    return type == AT_HWCAP ? hwcap : 0;
}

static bool is_found_in(unsigned long capabilities)
{
    struct drng_cpu cpu;
    hwcap = capabilities;
    drng_cpu_identify(&cpu);
    return cpu.aes;
}

UNIT_TEST("the kernel's bit decides")
{
    CU_ASSERT_TRUE(is_found_in(hwcap_aes));
    CU_ASSERT_TRUE(is_found_in(~0UL));
    CU_ASSERT_FALSE(is_found_in(0));
    CU_ASSERT_FALSE(is_found_in(~hwcap_aes));
}

UNIT_TEST("without it plain C serves alone")
{
    const struct drng_cpu cpu = {.hypervisor = true, .vaes256 = true, .vaes512 = true};
    const struct drng_aes *all[DRNG_AES_KINDS] = {NULL};
    CU_ASSERT_EQUAL(drng_aes_all(&cpu, all), 1);
    CU_ASSERT_PTR_EQUAL(all[0], &drng_aes_portable);
    CU_ASSERT_PTR_NULL(all[1]);
}

UNIT_TEST("with it the instructions serve, and plain C is behind them")
{
    const struct drng_cpu cpu = {.aes = true};
    const struct drng_aes *all[DRNG_AES_KINDS] = {NULL};
    CU_ASSERT_EQUAL_FATAL(drng_aes_all(&cpu, all), 2);
    CU_ASSERT_PTR_EQUAL(all[0], &drng_aes_portable);
    CU_ASSERT_PTR_EQUAL(all[1], &drng_aes_arm);
}

UNIT_TEST("both have a name and both slots")
{
    CU_ASSERT_STRING_EQUAL(drng_aes_portable.name, "portable");
    CU_ASSERT_STRING_EQUAL(drng_aes_arm.name, "ARMv8-AES");
    CU_ASSERT_TRUE(drng_aes_arm.ctr != NULL && drng_aes_arm.cbc != NULL);
    CU_ASSERT_FALSE(drng_aes_arm.fuses); /* fused_mac_none.c */
}

UNIT_MAIN("choice of AES on ARM")
