/*
 * filter.h - whether a filter of system calls (seccomp) is on.
 *
 * Such a filter may kill for a call that could be done without, and systemd's do so by default. So no call is made that
 * is not needed where one is on.
 */

#ifndef DRNG_FILTER_H
#define DRNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* The numbers are part of the layout in provider/observe/page.h. */
enum drng_filter {
    DRNG_FILTER_NONE = 0,
    DRNG_FILTER_ON,
    DRNG_FILTER_UNKNOWN, /* /proc/thread-self/status cannot be read */
};

/* To be called when the module loads: looks, with no system call but such as load a module too. */
void drng_filter_look(void);

/* What was seen then; DRNG_FILTER_UNKNOWN before it. */
enum drng_filter drng_filter_at_load(void);

/* Whether a system call may be made that is not needed: there was no filter at the load, and is none now. errno stays.
 */
bool drng_filter_lets_us_call(void);

/* The line "Seccomp:" in the text of that file, which comes piece by piece. All zero is the beginning. */
struct drng_filter_scan {
    unsigned matched; /* characters of the line's name; more than it has: this is another line */
    bool on;          /* the line was there, with another mode than 0 */
};

void drng_filter_scan(struct drng_filter_scan *scan, const char *text, size_t len);

#endif
