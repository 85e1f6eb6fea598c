/*
 * claim_rows.h - what makers claim of the words of their instructions, as a table.
 *
 * A link-time seam like cpu.h: words_x86.c and its like define the table, beside the instructions' rows.
 */

#ifndef DRNG_CLAIM_ROWS_H
#define DRNG_CLAIM_ROWS_H

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
    const char *maker;
    const char *vendor;                   /* as drng_cpu_identify() names it; NULL: whatever it names */
    const struct drng_listed_part *parts; /* ends with one of family 0; NULL: every processor of the maker */
    const char *says;                     /* what the maker says of a word */
    const char *document;                 /* where the maker says it */
    const char *certificate;              /* of NIST's list of ESV certificates */
    const char *reuse;                    /* whether others than the maker may claim under it */
    const char *read_in;                  /* where it was read, if not in the maker's own text */
    unsigned instruction;
    unsigned certified_millibits; /* entropy of a word by certificate, in 1/1000 bit, rounded down; 0: no certificate */
};

/* The first that matches an instruction and a CPU is meant. Ends with one whose maker is NULL. */
extern const struct drng_claim drng_claims[];

#endif
