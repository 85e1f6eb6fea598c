/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - runs work in a child process: work that a test cannot survive, or that must run in a child. */

#ifndef DRNG_CHILD_H
#define DRNG_CHILD_H

#include <sys/wait.h>

/* The work; its result becomes the exit status. */
typedef int child_work(void *arg);

/* Both wait for the child and return its status from waitpid(); -1: no child could be made. */

/* By fork(), which runs the atfork handlers. */
int child_forked(child_work *work, void *arg);

/* By the system call, which the C library does not notice. */
int child_cloned(child_work *work, void *arg);

/* The system call, which tells no C library; on IBM Z it takes the stack first. */
#if defined(__s390x__)
#define CHILD_RAW_CLONE(flags) ((pid_t)syscall(SYS_clone, 0, (flags), 0, 0, 0))
#else
#define CHILD_RAW_CLONE(flags) ((pid_t)syscall(SYS_clone, (flags), 0, 0, 0, 0))
#endif

#endif
