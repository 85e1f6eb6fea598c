/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h - what every harness uses.
 *
 * A harness is read by CBMC, not by a compiler. Functions called nondet_*() have no body, so they return every value;
 * an ASSUME() narrows what was chosen, and a CLAIM() must hold for all that is left. Claims after assumptions that
 * contradict each other hold for nothing: so each harness has a REACHED() at every end that it is about, and
 * scripts/prove.py runs it a second time, with -DVACUITY, in which every one of them must be reached.
 */

#ifndef DRNG_PROOF_H
#define DRNG_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned __int128 u128;

bool nondet_bool(void);
uint8_t nondet_u8(void);
uint32_t nondet_u32(void);
uint64_t nondet_u64(void);
unsigned nondet_unsigned(void);
size_t nondet_size(void);
long nondet_long(void);

/* CBMC does not know this one. */
void __builtin_ia32_pause(void) {}

/* CBMC's own memset() leaves words as they are where the length is not a constant. */
#ifndef OWN_MEMSET
void *memset(void *data, int value, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)data)[i] = (uint8_t)value;
    }
    return data;
}
#endif

#define ASSUME(condition) __CPROVER_assume(condition)

#ifdef VACUITY
#define CLAIM(condition, text) ((void)(condition))
#define REACHED(text)          __CPROVER_assert(0, "reached: " text)
#else
#define CLAIM(condition, text) __CPROVER_assert(condition, text)
#define REACHED(text)          ((void)0)
#endif

/* Sets the object to any bytes. */
#define ANY(object) __CPROVER_havoc_object(&(object))

/* The stack is no object of C's; tests/process/test_stack.c looks at it. */
void drng_wipe_stack_512(void) {}

void drng_wipe_stack_1024(void) {}

void drng_wipe_stack_2048(void) {}

/* Whether data[0..len) is zero; `at` is any index, so one comparison speaks of all bytes. */
static inline bool zero_at_any(const void *data, size_t len)
{
    const size_t at = nondet_size();
    ASSUME(at < len);
    return ((const uint8_t *)data)[at] == 0;
}

static inline size_t at_most(size_t limit)
{
    const size_t value = nondet_size();
    ASSUME(value <= limit);
    return value;
}

/* A run of the prover for each size of key; all of them at once take it far longer. */
#ifndef KEY_LEN
#define KEY_LEN 32
#endif

#endif
