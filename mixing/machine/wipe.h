/* SPDX-License-Identifier: Apache-2.0 */
/* wipe.h - erases secrets in a way that the compiler does not optimize away. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Sets len bytes to zero; data may be NULL if len is 0, as memset()'s may not. The empty asm pretends to read them, so
 * the stores are not dead. For a small constant len the compiler emits a few vector stores, where explicit_bzero()
 * would be a call.
 */
static inline void drng_wipe(void *data, size_t len)
{
    if (len > 0) {
        memset(data, 0, len);
    }
    __asm__ volatile("" : : "r"(data) : "memory");
}

/* Whether all len bytes are zero. The time does not depend on their values. */
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
 * Marks a function whose stack frame its caller wipes. If the compiler inlined it, its secrets would lie in the
 * caller's frame, which is not wiped.
 */
#define DRNG_OWN_FRAME __attribute__((noinline))

/*
 * Wipe this many bytes of the stack below the caller's frame. Functions that have returned may have left secrets there
 * that did not fit into registers, round keys for instance. Where a compiler puts them depends on its version and
 * options, so their whole frames are wiped. tests/process/test_stack.c and scripts/evidence/stack-matrix.sh check that
 * the sizes suffice.
 *
 * 256:  AES whose keys and blocks stay in registers, but for a few.
 * 512:  a request whose AES stays within DRNG_AES_STACK.
 * 1024: AES with a key schedule in memory; a request with a derivation function.
 * 2048: AES in plain C; a seed, with all calls that make it.
 */
void drng_wipe_stack_256(void); /* on x86-64 only */
void drng_wipe_stack_512(void);
void drng_wipe_stack_1024(void);
void drng_wipe_stack_2048(void);
