/* wipe.h - erasing secrets so that the compiler keeps the erasure. */

#ifndef DRNG_WIPE_H
#define DRNG_WIPE_H

#include <stddef.h>
#include <string.h>

/*
 * Sets len bytes to zero. The empty asm claims to read them, so the stores are not dead; for a small
 * constant len they stay a few vector stores, which a call of explicit_bzero() would not.
 */
static inline void drng_wipe(void *data, size_t len)
{
    memset(data, 0, len);
    __asm__ volatile("" : : "r"(data) : "memory");
}

#endif
