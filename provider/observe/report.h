/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - what the operator is told: why an instruction does not serve, and what keeps copies of this machine apart.
 *
 * The counters (stats.h) and the parameters show it at any time, and drng-status --check logs from outside. Errors go
 * to the error queue only if a request fails: SSL_get_error(3) takes any error in the queue for a failure of the
 * connection.
 */

#pragma once

#include "mixing/entropy/seed.h"
#include "mixing/machine/counters.h"
#include "provider/observe/stats.h"

struct drng_provctx;

/* To be called when an instance has loaded: from now on the counters can be read from outside. */
void drng_report_loaded(struct drng_provctx *provctx);

/* To be called after each call that may have taken a seed or words. Records what has changed. */
void drng_report_seed(struct drng_provctx *provctx);

/*
 * Lists each instruction that does not serve, and why: not allowed, or disabled; "" if all serve. The text never
 * changes, and is valid as long as the instance; there is another one when an instruction is disabled.
 */
const char *drng_report_disabled_reason(struct drng_provctx *provctx);

/* Why no instruction served: the same, and what the others came to when they were asked last. Returns `why`. */
enum { DRNG_WHY_SIZE = 2 * DRNG_TEXT_SIZE };
const char *drng_report_unserved(struct drng_provctx *provctx, char why[DRNG_WHY_SIZE]);

/* What became of the instruction when it was asked last, or why it may not be: "too slow", "masked by ...". */
const char *drng_report_last_result(const struct drng_provctx *provctx, unsigned instruction);

/* The source that is asked first for a seed. */
enum drng_source drng_report_first_in_line(const struct drng_provctx *provctx);

/*
 * What keeps copies of this machine from drawing the same, from the weakest to the strongest. The values are part of
 * the layout in stats.h.
 */
enum drng_clone_protection {
    DRNG_CLONES_NONE,        /* copies draw the same until each has reseeded */
    DRNG_CLONES_KERNEL,      /* each request takes in bytes of the kernel, which may repeat, and the time */
    DRNG_CLONES_INSTRUCTION, /* each request takes in a word of an instruction */
    DRNG_CLONES_COUNTER,     /* the machine tells of copies, and they reseed (clone.h) */
};

extern const char *const drng_clone_protections[]; /* their names: "counter" */

/* What is in force now for every generator that serves; *reason becomes why. */
enum drng_clone_protection drng_report_clones(const struct drng_provctx *provctx, const char **reason);

/* One more generator whose parent is another provider's (1), or one less (-1): its requests take in no words. */
void drng_report_foreign(struct drng_provctx *provctx, int change);
