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

/*
 * Wipe so many bytes of the stack below the caller's frame: functions that have returned kept there what did not fit
 * into registers, round keys for instance. They must not have been inlined into the caller.
 */
void drng_wipe_stack_256(void);
void drng_wipe_stack_512(void);
void drng_wipe_stack_2048(void);

#endif
