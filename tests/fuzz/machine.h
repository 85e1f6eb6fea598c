/* machine.h - the scripted CPU and the provider's process on it, as new for each input, and what must hold of both. */

#ifndef DRNG_FUZZ_MACHINE_H
#define DRNG_FUZZ_MACHINE_H

#include <stdint.h>

#include "provider/process.h"
#include "tests/fuzz/fuzz.h"

enum { MACHINE_RESEED_NS = 10000000 }; /* what a seed may take, whatever the CPU does */

/* Once, before all others: the process is held open, so that AES is tested once and not for each input. */
void machine_open(void);

/* A process that has seen nothing yet, on a CPU that does what the input says. */
void machine_start(struct fuzz_input *input);

/* From now on one instruction, or the kernel's generator, does something else. */
void machine_change(struct fuzz_input *input);

/* Seeds that somebody served, and requests for one, served or not. */
uint64_t machine_seeds(void);
uint64_t machine_attempts(void);

/* What was when a call began. */
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

/* Since the mark: no seed took longer than it may; what was disabled has served nothing and stays disabled. */
void machine_check(const struct machine_mark *mark);

#endif
