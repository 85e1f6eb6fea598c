/*
 * claim.h - what is claimed for the words of each instruction, by whom, and where that was read.
 *
 * drng counts in one of two ways. By design it assumes for each instruction what its row says (instruction.h), whoever
 * made the CPU. By certificate it counts only what the maker's Entropy Source Validation (ESV) certificate allows;
 * where no certificate is known, the instruction makes no seeds. docs/entropy.md shows the claims as a table.
 */

#ifndef DRNG_CLAIM_H
#define DRNG_CLAIM_H

#include <stddef.h>

#include "mixing/machine/cpu.h"

/* A processor on the list of a certificate, as CPUID shows it. */
struct drng_listed_part {
    unsigned family;
    unsigned model;
    unsigned steppings; /* bit n: stepping n is listed; 0: each is */
};

enum { DRNG_EVERY_MODEL = 0xffff }; /* as a model */

/*
 * What one maker says of one instruction, under one certificate or under none. It stands beside the instruction's row,
 * in words_x86.c and its like. The texts are for people; NULL says that nothing is known.
 */
struct drng_claim {
    unsigned instruction;
    const char *maker;
    const char *vendor;                   /* as drng_cpu_identify() names it; NULL: whatever it names */
    const struct drng_listed_part *parts; /* ends with one of family 0; NULL: every processor of the maker */
    unsigned certified_millibits; /* entropy of a word by certificate, in 1/1000 bit, rounded down; 0: no certificate */
    const char *says;             /* what the maker says of a word */
    const char *document;         /* where the maker says it */
    const char *certificate;      /* of NIST's list of ESV certificates */
    const char *reuse;            /* whether others than the maker may claim under it */
    const char *read_in;          /* where it was read, if not in the maker's own text */
};

/* The first that matches an instruction and a CPU is meant. Ends with one whose maker is NULL. */
extern const struct drng_claim drng_claims[];

/* NULL: nobody claims anything. */
const struct drng_claim *drng_claim_find(const struct drng_cpu *cpu, unsigned instruction);

/*
 * How many words a window takes for a block of 128 bits with full entropy: at least 192 bits by the certificate, which
 * are 64 more than the block has (SP 800-90C); never fewer words than by design. 0 if there is no certificate.
 */
size_t drng_claim_window_words(const struct drng_claim *claim);

/* The entropy of that many words by the certificate, in bits, rounded down. */
unsigned drng_claim_window_bits(const struct drng_claim *claim, size_t words);

#endif
