/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - the scripted CPU and the provider's process state on it, set up anew for each input, and their
 * invariants.
 */

#ifndef DRNG_FUZZ_MACHINE_H
#define DRNG_FUZZ_MACHINE_H

#include <stdint.h>

#include "provider/process.h"
#include "tests/fuzz/fuzz.h"

enum { MACHINE_RESEED_NS = DRNG_LAST_BUDGET_NS + 10000000 }; /* the most time for a seed, whatever the CPU does */

/*
 * To be called once, before all others. Keeps the process state open, so that AES is not tested again for each input.
 */
void machine_open(void);

/* Resets the process state, on a CPU that does what the input says. */
void machine_start(struct fuzz_input *input);

/* Changes what one instruction, or the kernel's generator, does from now on. */
void machine_change(struct fuzz_input *input);

/* All requests for a seed, served or not. */
uint64_t machine_seeds(void);
uint64_t machine_attempts(void);

/* The state at the beginning of a call. */
struct machine_mark {
    uint64_t clock_ns;
    uint64_t seeds;
    uint64_t attempts;
    uint64_t rdseed_seeds;
    uint64_t rdrand_seeds;
    bool rdseed_disabled;
    bool rdrand_disabled;
};

struct machine_mark machine_mark(void);

/*
 * Checks that since the mark no seed took too long, and that a disabled instruction served nothing and stays disabled.
 */
void machine_check(const struct machine_mark *mark);

#endif
