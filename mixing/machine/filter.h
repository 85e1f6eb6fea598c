/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - whether a system call filter (seccomp) is on.
 *
 * A filter may kill the process for any call that it does not allow, and systemd's filters do so by default. So where
 * one is on, drng makes no system call that it can do without.
 */

#ifndef DRNG_FILTER_H
#define DRNG_FILTER_H

#include <stdbool.h>
#include <stdio.h>

/* The values are part of the layout in provider/observe/stats.h. */
enum drng_filter {
    DRNG_FILTER_NONE = 0,
    DRNG_FILTER_ON,
    DRNG_FILTER_UNKNOWN, /* /proc/thread-self/status cannot be read */
};

/*
 * Looks for a filter. To be called when the module loads: it makes only system calls that loading a module makes, too.
 */
void drng_filter_look(void);

/* What drng_filter_look() found; DRNG_FILTER_UNKNOWN before it was called. */
enum drng_filter drng_filter_at_load(void);

/* Whether an optional system call may be made: no filter was on at the load, and none is on now. Preserves errno. */
bool drng_filter_lets_us_call(void);

/* What the text of /proc/thread-self/status says. */
enum drng_filter drng_filter_read(FILE *status);

#endif
