/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a filter of system calls is on: the line of /proc/PID/status, and the file itself under a real filter. */

#define _GNU_SOURCE

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "mixing/machine/filter.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

static bool is_on(const char *text)
{
    FILE *status = fmemopen((void *)text, strlen(text), "r");
    const enum drng_filter said = status != NULL ? drng_filter_read(status) : DRNG_FILTER_UNKNOWN;
    if (status != NULL) {
        (void)fclose(status);
    }
    CU_ASSERT_NOT_EQUAL(said, DRNG_FILTER_UNKNOWN);
    return said == DRNG_FILTER_ON;
}

UNIT_TEST("before the look nothing is called")
{
    CU_ASSERT_EQUAL(drng_filter_at_load(), DRNG_FILTER_UNKNOWN);
    CU_ASSERT_FALSE(drng_filter_lets_us_call());
}

UNIT_TEST("the line tells")
{
    CU_ASSERT_TRUE(is_on("Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
    CU_ASSERT_TRUE(is_on("Name:\tx\nSeccomp:\t1\n"));
    CU_ASSERT_FALSE(is_on("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n"));
    CU_ASSERT_FALSE(is_on("Name:\tx\nGroups:\t1 2 3\n"));
    CU_ASSERT_FALSE(is_on(""));
}

/* The name of a process is its own choice; the kernel writes a line break in it as two characters. */
UNIT_TEST("another line does not")
{
    CU_ASSERT_FALSE(is_on("Name:\tSeccomp:\t2\nSeccomp:\t0\n"));
    CU_ASSERT_FALSE(is_on("Name:\tx\\nSeccomp:\t2\nSeccomp:\t0\n"));
    CU_ASSERT_FALSE(is_on("Name:\tx\nxSeccomp:\t2\n"));
    CU_ASSERT_FALSE(is_on("Name:\tx\nSeccomp_filters:\t3\n"));
}

/* A file that cannot be read to its end says nothing: reading a folder fails. */
UNIT_TEST("what cannot be read is not known")
{
    FILE *folder = fopen("/", "re");
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    CU_ASSERT_EQUAL(drng_filter_read(folder), DRNG_FILTER_UNKNOWN);
    (void)fclose(folder);
}

static bool install_filter(void)
{
    struct sock_filter rules[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {.len = 1, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* One that comes after the look is noticed too, and errno is the caller's. */
static int look_before_and_after(void *unused)
{
    drng_filter_look();
    const bool none_yet = drng_filter_at_load() == DRNG_FILTER_NONE && drng_filter_lets_us_call();
    if (!install_filter()) {
        return 2;
    }
    errno = EBADMSG;
    const bool noticed = !drng_filter_lets_us_call() && errno == EBADMSG;
    drng_filter_look();
    return none_yet && noticed && drng_filter_at_load() == DRNG_FILTER_ON && !drng_filter_lets_us_call() ? 0 : 3;
}

UNIT_TEST("a real filter is seen")
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0) {
        (void)printf("(not tried: this process has a filter already) ");
        return;
    }
    CU_ASSERT_EQUAL(child_forked(look_before_and_after, NULL), 0);
}

UNIT_MAIN("filter")
