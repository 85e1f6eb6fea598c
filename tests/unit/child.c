/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE

#include "tests/unit/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int status_of(pid_t pid)
{
    int status = -1;
    pid_t done = -1;
    do {
        done = waitpid(pid, &status, 0);
    } while (done < 0 && errno == EINTR);
    return done == pid ? status : -1;
}

/* A child that is to die shall not leave a core, and not say more than its status does. */
__attribute__((noreturn)) static void work_and_exit(child_work *work, void *arg)
{
    const struct rlimit no_core = {0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(SIGSEGV, SIG_DFL);
    _exit(work(arg));
}

int child_forked(child_work *work, void *arg)
{
    (void)fflush(NULL); /* or the child would hold what is not written yet */
    const pid_t pid = fork();
    if (pid == 0) {
        work_and_exit(work, arg);
    }
    return pid > 0 ? status_of(pid) : -1;
}

int child_cloned(child_work *work, void *arg)
{
    (void)fflush(NULL);
    const pid_t pid = CHILD_RAW_CLONE(SIGCHLD);
    if (pid == 0) {
        work_and_exit(work, arg);
    }
    return pid > 0 ? status_of(pid) : -1;
}
