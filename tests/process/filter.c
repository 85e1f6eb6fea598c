/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/process/filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

enum { MOST = 64 };

static bool install(const long *numbers, unsigned count, unsigned listed, unsigned others)
{
    struct sock_filter rules[2 * MOST + 2];
    unsigned short len = 0;
    if (count > MOST) {
        return false;
    }
    rules[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++) {
        rules[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[i], 0, 1);
        rules[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
    }
    rules[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
    const struct sock_fprog program = {.len = len, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool filter_kill(const long *numbers, unsigned count)
{
    return install(numbers, count, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
}

bool filter_refuse(const long *numbers, unsigned count, int error)
{
    return install(numbers, count, SECCOMP_RET_ERRNO | (unsigned)error, SECCOMP_RET_ALLOW);
}

bool filter_allow_only(const long *numbers, unsigned count)
{
    return install(numbers, count, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
}
