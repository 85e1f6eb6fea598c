/* Bytes of the kernel's generator: never waited for, whole or none. */

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include "mixing/os.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

/* What the kernel answers: so many bytes, or -1. */
static ssize_t answer;
static unsigned calls;
static unsigned last_flags;

ssize_t __wrap_getrandom(void *out, size_t len, unsigned flags);

ssize_t __wrap_getrandom(void *out, size_t len, unsigned flags)
{
    calls++;
    last_flags = flags;
    if (answer < 0) {
        errno = EAGAIN;
        return -1;
    }
    memset(out, 0x77, (size_t)answer < len ? (size_t)answer : len);
    return answer;
}

static void it_does_not_wait(void)
{
    uint8_t out[64] = {0};
    answer = sizeof(out);
    CU_ASSERT_TRUE(drng_os_random(out, sizeof(out)));
    CU_ASSERT_EQUAL(last_flags, GRND_NONBLOCK);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0x77));
}

static void a_generator_that_is_not_ready_gives_nothing(void)
{
    uint8_t out[64];
    memset(out, 0xaa, sizeof(out));
    answer = -1;
    calls = 0;
    CU_ASSERT_FALSE(drng_os_random(out, sizeof(out)));
    CU_ASSERT_EQUAL(calls, 1);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
}

static void a_part_is_nothing(void)
{
    uint8_t out[64];
    memset(out, 0xaa, sizeof(out));
    answer = sizeof(out) - 1;
    CU_ASSERT_FALSE(drng_os_random(out, sizeof(out)));
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
}

static const struct unit_test tests[] = {
    {"it does not wait", it_does_not_wait},
    {"a generator that is not ready gives nothing", a_generator_that_is_not_ready_gives_nothing},
    {"a part is nothing", a_part_is_nothing},
};

UNIT_MAIN("os_linux", tests)
