/* Bytes of the kernel's generator: never waited for, whole or none. */

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#include "mixing/machine/os.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

/* What the kernel answers: so many bytes, or -1. */
static ssize_t answer;
static unsigned calls;
static unsigned last_flags;
static int cancel_state; /* in the call */

ssize_t __wrap_getrandom(void *out, size_t len, unsigned flags);

ssize_t __wrap_getrandom(void *out, size_t len, unsigned flags)
{
    int unused = 0;
    calls++;
    last_flags = flags;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    (void)pthread_setcancelstate(cancel_state, &unused);
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

/* The C library's getrandom() is a cancellation point, and callers hold locks. The caller's own state comes back. */
static void it_is_no_cancellation_point(void)
{
    static const int states[] = {PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DISABLE};
    uint8_t out[16];
    int state = 0;
    answer = sizeof(out);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(pthread_setcancelstate(states[i], &state), 0);
        CU_ASSERT_TRUE(drng_os_random(out, sizeof(out)));
        CU_ASSERT_EQUAL(cancel_state, PTHREAD_CANCEL_DISABLE);
        CU_ASSERT_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
        CU_ASSERT_EQUAL(state, states[i]);
    }
}

static const struct unit_test tests[] = {
    {"it does not wait", it_does_not_wait},
    {"a generator that is not ready gives nothing", a_generator_that_is_not_ready_gives_nothing},
    {"a part is nothing", a_part_is_nothing},
    {"it is no cancellation point", it_is_no_cancellation_point},
};

UNIT_MAIN("os_linux", tests)
