/* SPDX-License-Identifier: Apache-2.0 */
/* libdrng on a processor without an instruction: the kernel is asked for seeds, and not in each request. */

#include <drng.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "mixing/state/fork.h"
#include "tests/unit/unit.h"

enum { DRAWS = 100 };

static unsigned calls;

/* Linked with --wrap. */
long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    void *bytes = va_arg(args, void *);
    const size_t len = va_arg(args, size_t);
    const unsigned flags = va_arg(args, unsigned);
    va_end(args);
    calls++;
    return __real_syscall(number, bytes, len, flags);
}

UNIT_TEST("draws between two seeds ask the kernel nothing")
{
    unsigned char out[32];
    struct drng_info info;
    drng *handle = NULL;
    CU_ASSERT_EQUAL_FATAL(drng_open(&handle, DRNG_ANY), DRNG_SUCCESS);
    CU_ASSERT_TRUE(calls > 0); /* the seed */
    const unsigned before = calls;
    for (unsigned i = 0; i < DRAWS; i++) {
        CU_ASSERT_EQUAL(drng_read(handle, out, sizeof(out)), DRNG_SUCCESS);
    }
    /* On a kernel that does not wipe, as under QEMU's user mode, each request takes in bytes of the kernel's. */
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || calls == before);
    CU_ASSERT_EQUAL(drng_reseed(handle), DRNG_SUCCESS);
    CU_ASSERT_TRUE(calls > before);
    CU_ASSERT_EQUAL(drng_info(handle, &info), DRNG_SUCCESS);
    CU_ASSERT_STRING_EQUAL(info.source, "getrandom");
    drng_close(handle);
}

UNIT_MAIN("none")
