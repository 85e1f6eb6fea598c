/* SPDX-License-Identifier: Apache-2.0 */
/* IBM Z: what /proc/sysinfo tells of the machine. */

#include <stdio.h>
#include <string.h>

#include "mixing/machine/cpu.h"
#include "tests/unit/unit.h"

static bool is_virtual(const char *text)
{
    FILE *sysinfo = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(sysinfo);
    const bool virtual = drng_z_is_virtual(sysinfo);
    CU_ASSERT_EQUAL(fclose(sysinfo), 0);
    return virtual;
}

static const char partition[] =
    "Manufacturer:         IBM\nType:                 8561\nModel:                701\n\n"
    "CPUs Total:           28\n\nLPAR Number:          21\nLPAR Name:            A2500021\n";

UNIT_TEST("a partition alone is no virtual machine")
{
    CU_ASSERT_FALSE(is_virtual(partition));
}

UNIT_TEST("a guest in it is one")
{
    static const char *const guests[] = {"\nVM00 Name:            KVMGUEST\nVM00 Control Program: KVM/Linux\n",
                                         "\nVM00 Name:            LINUX1\nVM00 Control Program: z/VM    7.2.0\n"};
    for (size_t i = 0; i < sizeof(guests) / sizeof(*guests); i++) {
        char text[sizeof(partition) + 100];
        (void)snprintf(text, sizeof(text), "%s%s", partition, guests[i]);
        CU_ASSERT_TRUE(is_virtual(text));
    }
}

/* Else clones of what this file does not describe would draw the same bytes. */
UNIT_TEST("what does not tell may be one")
{
    CU_ASSERT_TRUE(is_virtual("\n"));
    CU_ASSERT_TRUE(is_virtual("Manufacturer:         IBM\nType:                 8561\n"));
}

UNIT_TEST("a file that cannot be read may be one")
{
    FILE *folder = fopen("/proc", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    CU_ASSERT_TRUE(drng_z_is_virtual(folder));
    CU_ASSERT_EQUAL(fclose(folder), 0);
}

UNIT_MAIN("z")
