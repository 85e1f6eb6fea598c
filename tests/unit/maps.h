/* maps.h - what the kernel says of this process's memory. */

#ifndef DRNG_MAPS_H
#define DRNG_MAPS_H

#include <stdbool.h>
#include <stddef.h>

/* Mappings in /proc/self/maps; 0: it cannot be read. */
size_t maps_count(void);

/* Whether a file of this name is mapped. */
bool maps_mention(const char *name);

/* Whether the mapping that holds the address has this flag of two letters in /proc/self/smaps. */
bool maps_has_flag(const void *address, const char *flag);

#endif
