/* memory.h - a libcrypto that can be made to run out of memory. */

#ifndef DRNG_MEMORY_H
#define DRNG_MEMORY_H

#include <stdbool.h>

/* To be called before anything else of libcrypto. False: too late. */
bool memory_install(void);

/* From now on every allocation of libcrypto fails, or none does. */
void memory_fail(bool fail);

/* This many allocations succeed from now on, and the others fail. */
void memory_fail_after(unsigned allocations);

#endif
