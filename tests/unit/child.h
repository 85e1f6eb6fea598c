/* child.h - work done in a child process, for what a test cannot survive or wants to see from the other side. */

#ifndef DRNG_CHILD_H
#define DRNG_CHILD_H

#include <sys/wait.h>

/* What the child does; its result becomes the exit status. */
typedef int child_work(void *arg);

/* Both wait for the child and return its status as waitpid() gives it; -1: there was no child. */

/* By fork(), whose handlers run. */
int child_forked(child_work *work, void *arg);

/* By the system call, of which the C library learns nothing. */
int child_cloned(child_work *work, void *arg);

#endif
