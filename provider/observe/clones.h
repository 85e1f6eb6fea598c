/* clones.h - what keeps copies of this machine from drawing the same, for the operator. */

#ifndef DRNG_CLONES_H
#define DRNG_CLONES_H

#include "provider/provctx.h"

/* From the weakest to the strongest. The values are part of the layout in stats.h. */
enum drng_clone_protection {
    DRNG_CLONES_NONE,        /* copies draw the same until each has reseeded */
    DRNG_CLONES_KERNEL,      /* each request takes in bytes of the kernel, which may repeat, and the time */
    DRNG_CLONES_INSTRUCTION, /* each request takes in a word of an instruction */
    DRNG_CLONES_COUNTER,     /* the machine tells of copies, and they reseed (clone.h) */
};

/* What is in force now. */
enum drng_clone_protection drng_clones_protection(const struct drng_provctx *provctx);

/* "counter", and why it is that. */
const char *drng_clones_name(enum drng_clone_protection protection);
const char *drng_clones_reason(enum drng_clone_protection protection);

/* Writes to the system log, once, if copies of this machine may draw the same. */
void drng_clones_warn(const struct drng_provctx *provctx);

#endif
