/* SPDX-License-Identifier: Apache-2.0 */
/* The flags line of /proc/cpuinfo, as kernels write it and as they do not. */

#define _GNU_SOURCE

#include <stdio.h>
#include <string.h>

#include "mixing/machine/os.h"
#include "tests/unit/unit.h"

/* What no parser writes, so that a change is seen. */
static const struct drng_kernel_flags untouched = {.known = false, .has = {true, true}};

static bool parse(const char *text, struct drng_kernel_flags *flags)
{
    FILE *file = fmemopen((void *)text, strlen(text), "r");
    const bool found = file != NULL && drng_os_read_flags(file, flags);
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static bool leaves_untouched(const char *text)
{
    struct drng_kernel_flags flags = untouched;
    return !parse(text, &flags) && !flags.known && flags.has[DRNG_RDRAND] && flags.has[DRNG_RDSEED];
}

static bool parses_to(const char *text, bool rdrand, bool rdseed)
{
    struct drng_kernel_flags flags = {.known = false, .has = {[DRNG_RDRAND] = !rdrand, [DRNG_RDSEED] = !rdseed}};
    return parse(text, &flags) && flags.known && flags.has[DRNG_RDRAND] == rdrand && flags.has[DRNG_RDSEED] == rdseed;
}

static const char intel[] =
    "processor\t: 0\n"
    "vendor_id\t: GenuineIntel\n"
    "cpu family\t: 6\n"
    "model\t\t: 85\n"
    "model name\t: Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz\n"
    "fpu\t\t: yes\n"
    "cpuid level\t: 22\n"
    "wp\t\t: yes\n"
    "flags\t\t: fpu vme de pse tsc msr aes xsave avx f16c rdrand hypervisor lahf_lm mpx avx512f "
    "rdseed adx smap clflushopt\n"
    "vmx flags\t: vnmi preemption_timer invvpid ept_x_only\n"
    "bugs\t\t: spectre_v1 spectre_v2 srbds\n"
    "bogomips\t: 6000.00\n"
    "\n";

/* Zen 5 under a kernel that knows of AMD-SB-7055. */
static const char amd[] = "processor\t: 0\n"
                          "vendor_id\t: AuthenticAMD\n"
                          "cpu family\t: 26\n"
                          "model\t\t: 2\n"
                          "model name\t: AMD EPYC 9755 128-Core Processor\n"
                          "flags\t\t: fpu vme de pse tsc msr aes xsave avx f16c rdrand hypervisor adx smap clflushopt\n"
                          "bugs\t\t: sysret_ss_attrs spectre_v1\n"
                          "\n";

UNIT_TEST("both flags of an Intel are found")
{
    CU_ASSERT_TRUE(parses_to(intel, true, true));
}

UNIT_TEST("a flag that the kernel cleared is missed")
{
    CU_ASSERT_TRUE(parses_to(amd, true, false));
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu rdseed adx\n", false, true));
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu vme\n", false, false));
    CU_ASSERT_TRUE(parses_to("flags\t\t:\n", false, false));
}

UNIT_TEST("a text without flags says nothing")
{
    CU_ASSERT_TRUE(leaves_untouched("processor\t: 0\nFeatures\t: fp asimd evtstrm rdrand rdseed\n"));
    CU_ASSERT_TRUE(leaves_untouched("processor\t: 0\n\n"));
    CU_ASSERT_TRUE(leaves_untouched("no newline"));
    CU_ASSERT_TRUE(leaves_untouched(""));
    CU_ASSERT_TRUE(leaves_untouched("\n"));
}

UNIT_TEST("a line cut short says nothing")
{
    CU_ASSERT_TRUE(leaves_untouched("flags\t\t: fpu rdrand rdseed"));
    CU_ASSERT_TRUE(leaves_untouched("flags\t\t: fpu rdrand rds"));
    CU_ASSERT_TRUE(leaves_untouched("processor\t: 0\nflags"));
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu rdrand rdseed\n", true, true));
}

/* Every prefix of a file, as a reader sees it that comes in pieces. */
UNIT_TEST("a prefix is either complete or nothing")
{
    char text[sizeof(intel)] = {0};
    unsigned complete = 0;
    for (size_t len = 0; len < sizeof(intel) - 1; len++) {
        const bool nothing = leaves_untouched(text);
        CU_ASSERT_TRUE(nothing || parses_to(text, true, true));
        complete += !nothing;
        text[len] = intel[len];
    }
    CU_ASSERT_TRUE(complete > 0 && complete < sizeof(intel) - 1);
}

UNIT_TEST("a part of another word is not taken")
{
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu rdrandx rdseed_all adx\n", false, false));
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu xrdrand no_rdseed adx\n", false, false));
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu xrdrand rdrandx rdrand no_rdseed rdseed\n", true, true));
}

UNIT_TEST("the last word of the line counts")
{
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu rdrand\n", true, false));
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu rdseed\nbugs\t\t: none\n", false, true));
}

UNIT_TEST("the first word of the line counts")
{
    CU_ASSERT_TRUE(parses_to("flags\t\t: rdrand fpu\n", true, false));
    CU_ASSERT_TRUE(parses_to("flags :rdseed fpu\n", false, true));
}

UNIT_TEST("words of other lines do not count")
{
    CU_ASSERT_TRUE(parses_to("model name\t: rdrand rdseed\nflags\t\t: fpu\nbugs\t\t: rdrand rdseed\n", false, false));
}

UNIT_TEST("another line is not mistaken for the flags")
{
    CU_ASSERT_TRUE(leaves_untouched("vmx flags\t: vnmi rdrand rdseed\n"));
    CU_ASSERT_TRUE(leaves_untouched("flagship\t: rdrand rdseed\n"));
    CU_ASSERT_TRUE(parses_to("vmx flags\t: rdrand rdseed\nflags\t\t: fpu rdseed\n", false, true));
}

UNIT_TEST("one processor speaks for all")
{
    CU_ASSERT_TRUE(parses_to("flags\t\t: fpu rdrand\n\nprocessor\t: 1\nflags\t\t: fpu rdseed\n", true, false));
    CU_ASSERT_TRUE(parses_to("flags\t: rdrand rdseed\nflags\t: rdr", true, true));
}

UNIT_MAIN("cpuinfo")
