/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - seccomp filters: what a service manager, a sandbox or a container puts around a program. */

#ifndef TEST_FILTER_H
#define TEST_FILTER_H

#include <stdbool.h>

/* From now on these system calls kill this process and its children. */
bool filter_kill(const long *numbers, unsigned count);

/* From now on these system calls fail with this error. */
bool filter_refuse(const long *numbers, unsigned count, int error);

/* From now on all other system calls kill. */
bool filter_allow_only(const long *numbers, unsigned count);

#endif
