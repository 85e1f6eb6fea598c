/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of the kernel's generator: never waited for, whole or none. */

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "mixing/machine/os.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

/* What the kernel answers: so many bytes, or -1. */
static long answer;
static unsigned calls;
static unsigned last_flags;

long __wrap_syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    void *out = va_arg(arguments, void *);
    const size_t len = va_arg(arguments, size_t);
    last_flags = va_arg(arguments, unsigned);
    va_end(arguments);
    CU_ASSERT_EQUAL(number, SYS_getrandom);
    calls++;
    if (answer < 0) {
        errno = EAGAIN;
        return -1;
    }
    memset(out, 0x77, (size_t)answer < len ? (size_t)answer : len);
    return answer;
}

UNIT_TEST("it does not wait")
{
    uint8_t out[64] = {0};
    answer = sizeof(out);
    CU_ASSERT_TRUE(drng_os_random(out, sizeof(out)));
    CU_ASSERT_EQUAL(last_flags, GRND_NONBLOCK);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0x77));
}

UNIT_TEST("a generator that is not ready gives nothing")
{
    uint8_t out[64];
    memset(out, 0xaa, sizeof(out));
    answer = -1;
    calls = 0;
    CU_ASSERT_FALSE(drng_os_random(out, sizeof(out)));
    CU_ASSERT_EQUAL(calls, 1);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
}

UNIT_TEST("a part is nothing")
{
    uint8_t out[64];
    memset(out, 0xaa, sizeof(out));
    answer = sizeof(out) - 1;
    CU_ASSERT_FALSE(drng_os_random(out, sizeof(out)));
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
}

static void *draw_cancelled(void *passed)
{
    uint8_t out[16];
    (void)pthread_cancel(pthread_self());
    if (drng_os_random(out, sizeof(out))) {
        *(bool *)passed = true;
    }
    return NULL;
}

UNIT_TEST("it is no cancellation point")
{
    bool passed = false;
    pthread_t id;
    answer = 16;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&id, NULL, draw_cancelled, &passed), 0);
    CU_ASSERT_EQUAL(pthread_join(id, NULL), 0);
    CU_ASSERT_TRUE(passed);
}

UNIT_MAIN("os_linux")
