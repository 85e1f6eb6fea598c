/* filter.h - seccomp filters: what a service manager, a sandbox or a container puts around a program. */

#ifndef TEST_FILTER_H
#define TEST_FILTER_H

#include <stdbool.h>

/* From now on this process and its children are killed at these system calls. */
bool filter_kill(const long *numbers, unsigned count);

/* They give this error, and nothing else happens. */
bool filter_refuse(const long *numbers, unsigned count, int error);

/* All but these kill. */
bool filter_allow_only(const long *numbers, unsigned count);

#endif
