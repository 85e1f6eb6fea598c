/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h - what is known to go wrong with instructions, and what becomes of one that has the fault. */

#ifndef TEST_FAULTS_H
#define TEST_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/entropy/noise.h"
#include "tests/scripted/cpu.h"

/* What becomes of one instruction in one call, that of a seed of FAULTS_SEED_LEN bytes. */
struct outcome {
    bool serves;
    unsigned health_failures;
    bool disabled;
};

enum { FAULTS_SEED_LEN = 48, FAULTS_LIMIT_NS = DRNG_STEADY_BUDGET_NS + 10000000, FAULTS_MILLION = 1000000 };

struct fault {
    const char *name;
    scripted_behaviour *behaviour;
    uint64_t starving_at; /* `at` of the behaviour on an instruction that starves; on a steady one, whose windows are
                             long: */
    uint64_t steady_at;
    uint64_t wear;    /* words that the instruction gives well before the call under test */
    uint64_t slow_ns; /* what an execution takes in that call; 0: the normal time */
    const struct outcome *if_starving;
    const struct outcome *if_steady; /* NULL: a steady instruction cannot get that far with it */
    unsigned kinds;                  /* of one bit or one byte: how many there are to have it; 0: it is no such fault */
};

/* Ends with one that has no name. */
extern const struct fault faults[];

#endif
