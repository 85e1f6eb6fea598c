/* Which implementation of AES serves on which CPU of 64-bit ARM, and what the kernel has said of this one. */

#include <sys/auxv.h>

#include "mixing/aes/aes.h"
#include "tests/unit/unit.h"

/* In place of the C library's, by the linker. */
unsigned long __wrap_getauxval(unsigned long type);

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

static void the_kernels_bit_decides(void)
{
    CU_ASSERT_TRUE(is_found_in(hwcap_aes));
    CU_ASSERT_TRUE(is_found_in(~0UL));
    CU_ASSERT_FALSE(is_found_in(0));
    CU_ASSERT_FALSE(is_found_in(~hwcap_aes));
}

static void without_it_plain_c_serves_alone(void)
{
    const struct drng_cpu cpu = {.hypervisor = true, .vaes256 = true, .vaes512 = true};
    const struct drng_aes *all[DRNG_AES_KINDS] = {NULL};
    CU_ASSERT_EQUAL(drng_aes_all(&cpu, all), 1);
    CU_ASSERT_PTR_EQUAL(all[0], &drng_aes_portable);
    CU_ASSERT_PTR_NULL(all[1]);
}

static void with_it_the_instructions_serve_and_plain_c_is_behind_them(void)
{
    const struct drng_cpu cpu = {.aes = true};
    const struct drng_aes *all[DRNG_AES_KINDS] = {NULL};
    CU_ASSERT_EQUAL_FATAL(drng_aes_all(&cpu, all), 2);
    CU_ASSERT_PTR_EQUAL(all[0], &drng_aes_portable);
    CU_ASSERT_PTR_EQUAL(all[1], &drng_aes_arm);
}

static void both_have_a_name_and_both_slots(void)
{
    CU_ASSERT_STRING_EQUAL(drng_aes_portable.name, "portable");
    CU_ASSERT_STRING_EQUAL(drng_aes_arm.name, "ARMv8-AES");
    CU_ASSERT_TRUE(drng_aes_arm.ctr != NULL && drng_aes_arm.cbc != NULL);
    CU_ASSERT_FALSE(drng_aes_arm.fuses); /* fused_mac_none.c */
}

static const struct unit_test tests[] = {
    {"the kernel's bit decides", the_kernels_bit_decides},
    {"without it plain C serves alone", without_it_plain_c_serves_alone},
    {"with it the instructions serve, and plain C is behind them",
     with_it_the_instructions_serve_and_plain_c_is_behind_them},
    {"both have a name and both slots", both_have_a_name_and_both_slots},
};

UNIT_MAIN("choice of AES on ARM", tests)
