/* wipe.h - erasing secrets so that the compiler keeps the erasure. */

#ifndef DRNG_WIPE_H
#define DRNG_WIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* Whether all len bytes are zero, in a time that does not depend on which are. */
static inline bool drng_is_wiped(const void *data, size_t len)
{
    const volatile uint8_t *bytes = data;
    uint8_t seen = 0;
    for (size_t i = 0; i < len; i++) {
        seen |= bytes[i];
    }
    return seen == 0;
}

/*
 * Functions whose frame is wiped by their caller are marked with this: inlined into it, what they keep on the stack
 * would lie in the caller's frame, which stays.
 */
#define DRNG_OWN_FRAME __attribute__((noinline))

/*
 * Wipe so many bytes of the stack below the caller's frame: functions that have returned kept there what did not fit
 * into registers, round keys for instance. What a compiler keeps there differs with its version and its options, so
 * the whole of their frames goes; tests/process/test_stack.c and scripts/evidence/stack-matrix.py see whether it is
 * enough.
 *
 * 512:  a request whose AES keeps its promise (DRNG_AES_STACK).
 * 1024: AES with a schedule in memory, and its blocks; a request with a derivation function.
 * 2048: AES on 512-bit registers with a schedule of them; a seed with all that made it.
 */
void drng_wipe_stack_512(void);
void drng_wipe_stack_1024(void);
void drng_wipe_stack_2048(void);

#endif
