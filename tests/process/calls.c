/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/process/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define CALL(name)                                                                                                     \
    {                                                                                                                  \
#name, SYS_##name                                                                                              \
    }

static const struct {
    const char *name;
    long number;
} calls[] = {
    CALL(access),  CALL(brk),          CALL(clock_gettime),  CALL(clone),       CALL(clone3),   CALL(close),
    CALL(connect), CALL(execve),       CALL(exit),           CALL(exit_group),  CALL(fcntl),    CALL(fork),
    CALL(fstat),   CALL(ftruncate),    CALL(futex),          CALL(getpid),      CALL(getppid),  CALL(getrandom),
    CALL(gettid),  CALL(gettimeofday), CALL(ioctl),          CALL(lseek),       CALL(madvise),  CALL(memfd_create),
    CALL(mlock),   CALL(mlock2),       CALL(mlockall),       CALL(mmap),        CALL(mprotect), CALL(mremap),
    CALL(munlock), CALL(munlockall),   CALL(munmap),         CALL(newfstatat),  CALL(open),     CALL(openat),
    CALL(poll),    CALL(prctl),        CALL(pread64),        CALL(prlimit64),   CALL(read),     CALL(readlink),
    CALL(rseq),    CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(sched_yield), CALL(sendto),   CALL(set_robust_list),
    CALL(socket),  CALL(statx),        CALL(sysinfo),        CALL(time),        CALL(uname),    CALL(wait4),
    CALL(write),
};

const char *calls_name(long number)
{
    static char text[24];
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (calls[i].number == number) {
            return calls[i].name;
        }
    }
    (void)snprintf(text, sizeof(text), "%ld", number);
    return text;
}

long calls_number(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (strcmp(calls[i].name, name) == 0) {
            return calls[i].number;
        }
    }
    return -1;
}
