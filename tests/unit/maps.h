/* SPDX-License-Identifier: Apache-2.0 */
/* maps.h - this process's memory, as the kernel shows it in /proc/self. */

#ifndef DRNG_MAPS_H
#define DRNG_MAPS_H

#include <stdbool.h>
#include <stddef.h>

/* The number of mappings in /proc/self/maps; 0: it cannot be read. */
size_t maps_count(void);

/* Whether a file of this name is mapped. */
bool maps_mention(const char *name);

/* The number of mappings that have this two-letter flag in /proc/self/smaps. */
size_t maps_with_flag(const char *flag);

/* Whether the mapping at this address has this two-letter flag in /proc/self/smaps. */
bool maps_has_flag(const void *address, const char *flag);

#endif
