/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from /proc whether a filter of system calls is on, and later asks the kernel. */

#define _GNU_SOURCE

#include "mixing/machine/filter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static atomic_uint at_load = DRNG_FILTER_UNKNOWN;

enum drng_filter drng_filter_read(FILE *status)
{
    static const char name[] = "Seccomp:\t";
    char *line = NULL;
    size_t size = 0;
    bool on = false;
    while (getdelim(&line, &size, '\n', status) > 0) {
        on |= strncmp(line, name, sizeof(name) - 1) == 0 && line[sizeof(name) - 1] != '0';
    }
    free(line);
    return feof(status) == 0 ? DRNG_FILTER_UNKNOWN : on ? DRNG_FILTER_ON : DRNG_FILTER_NONE;
}

void drng_filter_look(void)
{
    FILE *status = fopen("/proc/thread-self/status", "re");
    atomic_store(&at_load, status != NULL ? drng_filter_read(status) : DRNG_FILTER_UNKNOWN);
    if (status != NULL) {
        (void)fclose(status);
    }
}

enum drng_filter drng_filter_at_load(void)
{
    return (enum drng_filter)atomic_load(&at_load);
}

/* EINVAL: a kernel without seccomp. */
bool drng_filter_lets_us_call(void)
{
    const int errno_before = errno;
    const int mode = drng_filter_at_load() == DRNG_FILTER_NONE ? prctl(PR_GET_SECCOMP, 0, 0, 0, 0) : 1;
    const bool lets = mode == 0 || (mode < 0 && errno == EINVAL);
    errno = errno_before;
    return lets;
}
