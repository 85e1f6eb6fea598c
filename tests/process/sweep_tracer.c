/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_tracer - which system calls sweep_guest makes that come from drng, and what becomes of it when they fail.
 *
 *     sweep_tracer list GUEST...               a line for each: phase, name, how often
 *     sweep_tracer fail NAME ERROR GUEST...    each call of that name that comes from drng gives this error
 *     sweep_tracer filter kill|ERROR NAME,NAME... GUEST...   under a filter, as a service manager sets it; no tracing
 *
 * A call comes from drng where a return address on the stack leads into drng.so, so calls that libc and libcrypto make
 * for it count, and those that they make for themselves do not.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/process/calls.h"
#include "tests/process/filter.h"
#include "tests/process/sweep_mark.h"

enum { PHASES = 16, CALLS = 512, TASKS = 256, STACK_WORDS = 1024, NAME = 24 };

static char phases[PHASES][NAME];
static unsigned phase_count = 1; /* the first is "": between two */
static unsigned phase;
static unsigned counts[PHASES][CALLS];

static struct task {
    pid_t pid;
    bool inside; /* a call has begun */
    bool refused;
} tasks[TASKS];

static struct {
    uintptr_t start;
    uintptr_t end;
} module;

static long failing = -1;
static int error;

static struct task *task_of(pid_t pid)
{
    for (unsigned i = 0; i < TASKS; i++) {
        if (tasks[i].pid == pid || tasks[i].pid == 0) {
            tasks[i].pid = pid;
            return &tasks[i];
        }
    }
    (void)fprintf(stderr, "too many tasks\n");
    exit(2);
}

static bool peek(pid_t pid, uintptr_t from, void *to, size_t len, size_t *got)
{
    const struct iovec local = {to, len};
    const struct iovec remote = {(void *)from, len};
    const ssize_t read = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    *got = read > 0 ? (size_t)read : 0;
    return read > 0;
}

static void find_module(pid_t pid)
{
    char path[64];
    char line[512];
    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    module.start = module.end = 0;
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        uintptr_t start = 0;
        uintptr_t end = 0;
        if (strstr(line, "/drng.so") != NULL && strstr(line, " r-xp ") != NULL &&
            sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2) {
            module.start = start;
            module.end = end;
        }
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
}

/* What an instruction before it would have pushed: e8 (call), or ff /2 of two to seven bytes. */
static bool follows_a_call(pid_t pid, uintptr_t address)
{
    uint8_t code[7];
    size_t got = 0;
    if (!peek(pid, address - sizeof(code), code, sizeof(code), &got) || got != sizeof(code)) {
        return false;
    }
    if (code[2] == 0xe8) {
        return true;
    }
    for (unsigned i = 0; i <= 5; i++) {
        if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10) {
            return true;
        }
    }
    return false;
}

static bool comes_from_module(pid_t pid, uintptr_t sp, uintptr_t at)
{
    static uintptr_t stack[STACK_WORDS];
    size_t got = 0;
    if (module.start == 0) {
        return false;
    }
    if (at - module.start < module.end - module.start) {
        return true;
    }
    for (size_t len = sizeof(stack); len >= 512 && !peek(pid, sp, stack, len, &got); len /= 2) {
    }
    for (size_t i = 0; i < got / sizeof(*stack); i++) {
        if (stack[i] - module.start < module.end - module.start && follows_a_call(pid, stack[i])) {
            return true;
        }
    }
    return false;
}

static void note_phase(pid_t pid, uintptr_t name)
{
    char text[NAME] = "";
    size_t got = 0;
    (void)peek(pid, name, text, sizeof(text) - 1, &got);
    phase = 0;
    while (phase < phase_count && strcmp(phases[phase], text) != 0) {
        phase++;
    }
    if (phase == phase_count && phase_count < PHASES) {
        (void)snprintf(phases[phase_count++], NAME, "%s", text);
    }
    find_module(pid);
}

static void on_entry(pid_t pid, struct task *task)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0) {
        return;
    }
    const long number = (long)regs.orig_rax;
    if (number == SWEEP_MARK) {
        note_phase(pid, regs.rdi);
        return;
    }
    if (phase == 0 || number < 0 || number >= CALLS) {
        return;
    }
    if (module.start == 0) {
        find_module(pid);
    }
    if (!comes_from_module(pid, regs.rsp, regs.rip)) {
        return;
    }
    counts[phase][number]++;
    if (number == failing) {
        regs.orig_rax = (unsigned long long)-1;
        (void)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
        task->refused = true;
    }
}

static void on_exit_of_call(pid_t pid, struct task *task)
{
    struct user_regs_struct regs;
    if (task->refused && ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0) {
        regs.rax = (unsigned long long)-error;
        (void)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
    }
    task->refused = false;
}

/* The signal to pass on. */
static int on_stop(pid_t pid, int status)
{
    const int signal_number = WSTOPSIG(status);
    struct task *task = task_of(pid);
    if (signal_number == (SIGTRAP | 0x80)) {
        task->inside = !task->inside;
        if (task->inside) {
            on_entry(pid, task);
        } else {
            on_exit_of_call(pid, task);
        }
        return 0;
    }
    return signal_number == SIGTRAP || signal_number == SIGSTOP ? 0 : signal_number;
}

/* The first one's status when all are gone. */
static int trace(pid_t first)
{
    int result = -1;
    int status = 0;
    pid_t pid = waitpid(first, &status, __WALL);
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                         PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (pid != first || ptrace(PTRACE_SETOPTIONS, first, NULL, options) != 0) {
        return 2;
    }
    (void)ptrace(PTRACE_SYSCALL, first, NULL, 0L);
    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            (void)ptrace(PTRACE_SYSCALL, pid, NULL, (long)on_stop(pid, status));
        } else {
            task_of(pid)->inside = false;
            result = pid == first ? status : result;
        }
    }
    return result;
}

static int traced(char **guest)
{
    const pid_t pid = fork();
    if (pid == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        (void)raise(SIGSTOP);
        (void)execv(guest[0], guest);
        _exit(126);
    }
    const int status = trace(pid);
    if (WIFSIGNALED(status)) {
        (void)printf("killed: %d\n", WTERMSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void list(void)
{
    for (unsigned p = 1; p < phase_count; p++) {
        for (long number = 0; number < CALLS; number++) {
            if (counts[p][number] > 0) {
                (void)printf("call: %s %s %u\n", phases[p], calls_name(number), counts[p][number]);
            }
        }
    }
}

static int error_number(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"EINTR", EINTR}, {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}};
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        if (strcmp(errors[i].name, name) == 0) {
            return errors[i].number;
        }
    }
    return 0;
}

static int filtered(const char *action, char *names, char **guest)
{
    long numbers[16];
    unsigned count = 0;
    for (const char *name = strtok(names, ","); name != NULL && count < 16; name = strtok(NULL, ",")) {
        numbers[count] = calls_number(name);
        if (numbers[count++] < 0) {
            (void)fprintf(stderr, "no such call: %s\n", name);
            return 2;
        }
    }
    const bool on =
        strcmp(action, "kill") == 0 ? filter_kill(numbers, count) : filter_refuse(numbers, count, error_number(action));
    if (on) {
        (void)execv(guest[0], guest);
    }
    return 2;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "list") == 0) {
        const int result = traced(argv + 2);
        list();
        return result;
    }
    if (argc >= 5 && strcmp(argv[1], "fail") == 0) {
        failing = calls_number(argv[2]);
        error = error_number(argv[3]);
        return failing >= 0 && error != 0 ? traced(argv + 4) : 2;
    }
    if (argc >= 5 && strcmp(argv[1], "filter") == 0) {
        return filtered(argv[2], argv[3], argv + 4);
    }
    (void)fprintf(stderr, "usage: sweep_tracer list|fail|filter ... GUEST...\n");
    return 2;
}
