/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - a CPU that does what a test says, and a clock that advances when its instructions run.
 *
 * It answers in place of x86.c and its like. The rows of instructions_x86.c and its like are compiled against it, so
 * the tests run the loops of the product.
 */

#ifndef SCRIPTED_CPU_H
#define SCRIPTED_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/counters.h"
#include "mixing/machine/cpu.h"

struct scripted_instruction;

/* One execution: sets *word and returns the carry flag. */
typedef bool scripted_behaviour(struct scripted_instruction *instruction, uint64_t *word);

enum { SCRIPTED_LOG = 16384 };

struct scripted_instruction {
    scripted_behaviour *behaviour;
    uint64_t executions; /* with this behaviour */
    uint64_t words;      /* executions with CF = 1 before this one */
    uint64_t at;         /* the number of the word or execution at which a behaviour acts */
    unsigned which;      /* the number of the bit or byte on which a behaviour acts */
    uint64_t ns;         /* time of one execution on the scripted clock */
    uint64_t state;      /* of the generator of good words */
    size_t log_len;
    uint64_t log[SCRIPTED_LOG]; /* the first words given */
};

/* With the rows of x86-64. */
extern struct scripted_instruction scripted_rdrand;
extern struct scripted_instruction scripted_rdseed;

/* With the machine's own rows: tests/scripted/rows.c, in the place of cpu.c. */
extern struct scripted_instruction scripted_rows[DRNG_INSTRUCTIONS];

#define SCRIPTED_SOURCE_RDSEED ((enum drng_source)(DRNG_SOURCE_INSTRUCTION + DRNG_RDSEED))
#define SCRIPTED_SOURCE_RDRAND ((enum drng_source)(DRNG_SOURCE_INSTRUCTION + DRNG_RDRAND))

/* The answer of drng_cpu_identify(). */
extern struct drng_cpu scripted_cpu;

/* Resets all counts and logs, sets both behaviours, and gives the CPU every instruction. */
void scripted_reset(scripted_behaviour *rdseed, scripted_behaviour *rdrand);

/* The same for the machine's own rows: all of them are good. */
void scripted_reset_rows(void);

bool scripted_execute(struct scripted_instruction *instruction, uint64_t *word);

/* ---- Behaviours ---- */

scripted_behaviour scripted_good; /* words that pass every test, another sequence for each seed `state` */
scripted_behaviour scripted_zeros;
scripted_behaviour scripted_ones;
scripted_behaviour scripted_constant;
scripted_behaviour scripted_alternating; /* two words in turn */
scripted_behaviour scripted_period_64;
scripted_behaviour scripted_counting;    /* 0, 1, 2 ...: passes the word tests, and fails those of bytes */
scripted_behaviour scripted_counting_on; /* w, w + 1, w + 2 ... from the seed `state` on */
scripted_behaviour scripted_period;      /* `which` words in turn */
scripted_behaviour scripted_bits_stuck;  /* good but for the lowest `which` bits, which never change */
scripted_behaviour scripted_nibbles;     /* good but for the two halves of each byte, which are equal */
scripted_behaviour scripted_dry;         /* CF = 0 for ever */
scripted_behaviour scripted_dry_until;   /* CF = 0 before execution `at` */
scripted_behaviour scripted_dry_from;    /* words from number `at` on do not come */
scripted_behaviour scripted_every;       /* CF = 1 on one execution in `at` */
scripted_behaviour scripted_seldom_dry;  /* CF = 0 on one execution in 25: 4%, as reported of RNDR */
scripted_behaviour scripted_mostly_dry;  /* CF = 1 on one execution in 25, as seen on Zen 5 */
scripted_behaviour scripted_bad_word;    /* word `at` repeats the one before it */
scripted_behaviour scripted_bad_words;   /* every word from `at` repeats the one before it */
scripted_behaviour scripted_single_zero; /* word `at` is 0, and the others are good */
scripted_behaviour scripted_biased;      /* a bit is set with a chance of 1 - 2^-which */

/* From word `at` on, in words that are good but for that, bit or byte number `which`: */
scripted_behaviour scripted_bit_at_0;
scripted_behaviour scripted_bit_at_1;
scripted_behaviour scripted_byte_stuck;
scripted_behaviour scripted_byte_of_two; /* has two values, each the other's complement, so that all its bits change */

#endif
