/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - what all calls of libdrng in one process share: the CPU, its instructions, and the root of their seeds.
 */

#pragma once

#include <stdatomic.h>

#include "mixing/drbg/open.h"
#include "mixing/drbg/request_entropy.h"
#include "mixing/entropy/seed.h"
#include "mixing/machine/eligibility.h"

/* Set when the library is loaded, then constant but for the instructions and the root. */
struct drng_library {
    atomic_uint ready;  /* no bool: not every RISC-V can exchange a byte */
    atomic_uint failed; /* the error of the last attempt to open; 0 if none has failed */
    struct drng_machine machine;
    struct drng_eligibility eligibility;
    struct drng_instruction_counters counters[DRNG_INSTRUCTIONS];
    struct drng_request_words words;
    struct drng_place root;
};

extern struct drng_library drng_library;

/*
 * To be called first by every call that needs the machine. DRNG_SUCCESS, or one of drng.h's errors. A constructor has
 * made this call before main(), and before dlopen() returned: opening allocates memory, which a signal handler must not
 * do. So where the constructor has failed, this fails in the same way, and only drng_open() opens `again`.
 */
DRNG_MUST_CHECK int drng_library_open(bool again);

/* "not in this CPU"; NULL: the instruction may be used. Constant. After drng_library_open(). */
const char *drng_library_denied(unsigned instruction);
