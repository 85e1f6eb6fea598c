/*
 * instruction.h - the instructions that seeds are made of, a row for each.
 *
 * Whatever asks, counts, allows or names an instruction goes through the rows, and knows none of them by name. A new
 * instruction takes its line in DRNG_EACH_INSTRUCTION, and its row in the file that executes it (words_x86.c); its
 * counters, its parameters, its value of `source` and its line in drng-status follow from these.
 */

#ifndef DRNG_INSTRUCTION_H
#define DRNG_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they are asked for a seed; the name is that in openssl.cnf, in parameters, of the kernel's
 * flag. */
#define DRNG_EACH_INSTRUCTION(X)                                                                                       \
    X(DRNG_RDSEED, "rdseed")                                                                                           \
    X(DRNG_RDRAND, "rdrand")

#define DRNG_INSTRUCTION_ID(id, flag)   id,
#define DRNG_INSTRUCTION_FLAG(id, flag) flag,

enum { DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_ID) DRNG_INSTRUCTIONS };

/* The one that gives words for what is no seed: request mixing, and the algorithm of its name. */
enum { DRNG_WORDS_INSTRUCTION = DRNG_RDRAND };

/* Tries a word, from Intel's DRNG guide, 4.2.1: ten in a row that fail mean a broken CPU, not a busy one. */
enum { DRNG_RDRAND_TRIES = 10 };

/*
 * Raw words that one conditioned block of 128 bits takes.
 *
 * Either holds 256 bits of entropy as claimed: 64 more than the block is long, so that it loses nothing to speak of
 * (SP 800-90B, 3.1.5.1.2). RDSEED: 512 bits, of which the health tests' cutoffs claim half. RDRAND: past two reseeds of
 * the generator behind it, each good for 128 bits. Intel's is reseeded after at most 1022 words and AMD's after at most
 * 1024; a window that holds 128 bits from after each of two reseeds needs 2050, and 2052 is that in pairs with a pair
 * to spare. One reseed would leave 127 bits of the 128.
 */
enum { DRNG_RDSEED_WORDS = 8, DRNG_RDRAND_WORDS = 2052 };

struct drng_instruction_row {
    const char *name; /* "RDSEED" */
    /*
     * One execution: true and a word, or false and *word = 0. The instruction's flag alone decides; 0 is a legitimate
     * word. Only where drng_cpu_identify() reports the instruction.
     */
    bool (*read)(uint64_t *word);
    unsigned tries;      /* executions that fail in a row before it counts as dry, or the clock is looked at */
    bool starves;        /* a failure means "not yet": it is tried for as long as the budget lasts */
    bool fused;          /* the one that drng_fused_mac() reads */
    size_t window_words; /* that one conditioned block takes */
};

extern const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS];

static inline const char *drng_instruction_flag(unsigned instruction)
{
    static const char *const flags[] = {DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_FLAG)};
    return flags[instruction];
}

/* The hint for a waiting loop. */
static inline void drng_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* A word in `tries` executions at the most; false, and no word, if none succeeds. *failed grows by those that failed.
 */
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
    return false;
}

#endif
