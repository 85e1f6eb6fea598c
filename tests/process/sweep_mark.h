/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_mark.h - sweep_guest tells sweep_tracer its phase by a system call that no kernel has. */

#ifndef TEST_SWEEP_MARK_H
#define TEST_SWEEP_MARK_H

#include <unistd.h>

enum { SWEEP_MARK = 0x5eeb };

/* The phase that begins; "" between two phases. */
static inline void sweep_mark(const char *phase)
{
    (void)syscall(SWEEP_MARK, phase);
}

#endif
