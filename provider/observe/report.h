/*
 * report.h - what an operator should hear of: a provider that does not load, an instruction that was disabled, the
 * first use of the fallback.
 *
 * Each goes to the system log once per process, from two places: the loading of the provider, and the first seed that
 * an instance takes in the process that loaded it. There a program is not in its sandbox yet: the same steps map
 * memory and read files. Later, and in forked children, a message would be a system call that nobody expects, so
 * there are the counters (page.h), the parameters and the probes, and drng-status --check logs from outside.
 *
 * The error queue gets what made a request fail, and nothing from one that succeeded: SSL_get_error(3) takes any error
 * in the queue for the failure of the connection.
 */

#ifndef DRNG_REPORT_H
#define DRNG_REPORT_H

#include <stdbool.h>

#include "mixing/machine/counters.h"

struct drng_provctx;

/*
 * Why the instructions that do not serve do not, "" if both do. Points into the provctx; the text changes when an
 * instruction is disabled.
 */
const char *drng_report_disabled_reason(struct drng_provctx *provctx);

/* Who would be asked first: what there is to say before the first seed. */
enum drng_source drng_report_first_in_line(const struct drng_provctx *provctx);

/* To be called when an instance has loaded: notes who will serve. */
void drng_report_loaded(struct drng_provctx *provctx);

/* To be called after each seed that was asked for: notes what it has brought to light. */
void drng_report_seed(struct drng_provctx *provctx);

#endif
