/*
 * report.h - reports to the operator: the provider does not load, an instruction was disabled, the fallback served for
 * the first time.
 *
 * Each goes to the system log once in a process, at one of two moments: when the provider loads, and at the first seed
 * that an instance takes in the process that loaded it. The program is probably not in its sandbox then, since these
 * steps map memory and read files anyway. Later, and in forked children, a message would be a system call that no
 * sandbox expects. The counters (stats.h), the parameters and the probes show these events at any time, and drng-status
 * --check logs from outside.
 *
 * Errors go to the error queue only if a request fails: SSL_get_error(3) takes any error in the queue for a failure of
 * the connection.
 */

#ifndef DRNG_REPORT_H
#define DRNG_REPORT_H

#include <stdbool.h>

#include "mixing/machine/counters.h"

struct drng_provctx;

/*
 * Why instructions do not serve; "" if all do. The text is in the provctx, and changes when an instruction is disabled.
 */
const char *drng_report_disabled_reason(struct drng_provctx *provctx);

/* The source that is asked first for a seed. */
enum drng_source drng_report_first_in_line(const struct drng_provctx *provctx);

/* To be called when an instance has loaded. Records and reports which sources will serve. */
void drng_report_loaded(struct drng_provctx *provctx);

/* To be called after each request for a seed. Records and reports what has changed. */
void drng_report_seed(struct drng_provctx *provctx);

#endif
