/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction.h - the instructions that make seeds, as a table with a row for each.
 *
 * All code that reads, counts, allows or names an instruction goes through the rows. To add one, add it to
 * DRNG_EACH_INSTRUCTION of its architecture (rows.h), and write its row (instructions_x86.c, arm.c and their like). Its
 * counters, its parameters, its value of the key `source` and its line in drng-status follow from these.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/rows.h"

#define DRNG_INSTRUCTION_ID(id, flag)   id,
#define DRNG_INSTRUCTION_FLAG(id, flag) flag,

enum { DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_ID) DRNG_INSTRUCTIONS };

/* Executions for one word, from Intel's DRNG guide, 4.2.1: ten failures in a row mean a broken CPU, not a busy one. */
enum { DRNG_RDRAND_TRIES = 10 };

/* Executions between two looks at the clock, of an instruction that starves. */
enum { DRNG_STARVING_TRIES = 8 };

/*
 * How many raw words make one conditioned block of 128 bits, called a window, and the entropy that is assumed in them.
 * This is drng's design, for whoever made the CPU; docs/entropy.md has what makers claim of their words.
 *
 * Each window holds 256 bits of entropy by design. That is more than 64 bits above the length of the block, so that
 * conditioning loses practically none of the block's entropy (SP 800-90B, 3.1.5.1.2).
 *
 * RDSEED and the other seed-grade instructions: 512 bits, of which the health tests' cutoffs assume half. Intel is said
 * to claim as much of its words, and AMD a hundredth of it.
 *
 * RDRAND: enough words to span two reseeds of the generator behind it, each worth 128 bits. Intel's generator reseeds
 * after at most 1022 words, AMD's after at most 1024. A window that holds 128 bits from after each of two reseeds needs
 * 2050 words; 2052 is that with one spare pair. A window with one reseed would have 127 bits of the 128.
 *
 * RNDR: as many. No maker says when it reseeds, so this is no claim: on a CPU that reseeds as seldom as the others or
 * more often a window holds as much as RDRAND's, and on any other the seed is as strong as the DRBG behind RNDR. RNDR
 * is asked only when RNDRRS has not served.
 */
enum { DRNG_RDSEED_WORDS = 8, DRNG_RDRAND_WORDS = 2052, DRNG_WINDOW_BITS = 256 };

/* The key rdseed_words takes even numbers of words up to this one: AMD's figure wants 780. */
enum { DRNG_MOST_RDSEED_WORDS = 2048 };

struct drng_instruction_row {
    const char *name; /* "RDSEED" */
    /*
     * Executes the instruction once: true and a word; or false, and *word is what the CPU has left there. Where a flag
     * tells a failure it alone decides, since 0 is a legitimate word. To be called only if drng_cpu_identify() reports
     * the instruction.
     */
    bool (*read)(uint64_t *word);
    unsigned mask_bit; /* its bit in struct drng_masks (provider/masks.h), counted through both words */
    unsigned tries;    /* failures in a row after which the clock is looked at or, unless it starves, the read fails */
    bool seed_grade;   /* an entropy source, and no generator that one seeds */
    bool starves;      /* it fails while it waits for entropy, and is tried again until the budget is spent */
    bool fused;        /* drng_fused_mac() reads this one */
    size_t window_words;  /* words for one conditioned block, by design */
    unsigned window_bits; /* entropy in them, by design; 0: nothing is assumed */
};

/* What a row of an instruction of the seed grade has. */
#define DRNG_SEED_GRADE                                                                                                \
    .seed_grade = true, .tries = DRNG_STARVING_TRIES, .starves = true, .window_words = DRNG_RDSEED_WORDS,              \
    .window_bits = DRNG_WINDOW_BITS

extern const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS];

static inline const char *drng_instruction_flag(unsigned instruction)
{
    static const char *const flags[] = {DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_FLAG)};
    return flags[instruction];
}

/* Tells the CPU that this is a waiting loop. */
static inline void drng_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* YIELD takes no time on most cores */
#endif
}

/* Reads a word in at most `tries` executions. False, and *word = 0, if all fail. Adds their failures to *failed. */
static inline __attribute__((always_inline)) bool drng_try_word(bool (*execute)(uint64_t *word), unsigned tries,
                                                                uint64_t *failed, uint64_t *word)
{
    for (unsigned i = 0; i < tries; i++) {
        if (__builtin_expect(execute(word), 1)) {
            return true;
        }
        ++*failed;
        drng_pause();
    }
    *word = 0;
    return false;
}
