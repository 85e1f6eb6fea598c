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

static void a_partition_alone_is_no_virtual_machine(void)
{
    CU_ASSERT_FALSE(is_virtual(partition));
}

static void a_guest_in_it_is_one(void)
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
static void what_does_not_tell_may_be_one(void)
{
    CU_ASSERT_TRUE(is_virtual("\n"));
    CU_ASSERT_TRUE(is_virtual("Manufacturer:         IBM\nType:                 8561\n"));
}

static void a_file_that_cannot_be_read_may_be_one(void)
{
    FILE *folder = fopen("/proc", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    CU_ASSERT_TRUE(drng_z_is_virtual(folder));
    CU_ASSERT_EQUAL(fclose(folder), 0);
}

static const struct unit_test tests[] = {
    {"a partition alone is no virtual machine", a_partition_alone_is_no_virtual_machine},
    {"a guest in it is one", a_guest_in_it_is_one},
    {"what does not tell may be one", what_does_not_tell_may_be_one},
    {"a file that cannot be read may be one", a_file_that_cannot_be_read_may_be_one},
};

UNIT_MAIN("z", tests)
