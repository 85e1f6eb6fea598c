/* cpuinfo.h - the flags line of /proc/cpuinfo. */

#ifndef DRNG_CPUINFO_H
#define DRNG_CPUINFO_H

#include <stdbool.h>

#include "mixing/machine/os.h"

/*
 * Fills *flags from the first complete line of `text` that starts with "flags". False, with *flags unchanged, if there
 * is no such line.
 */
bool drng_cpuinfo_parse(const char *text, struct drng_kernel_flags *flags);

#endif
