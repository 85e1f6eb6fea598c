/*
 * rows_power.h - the instruction of POWER9 and later: darn, "deliver a random number" (Power ISA 3.0B, Book I, 3.3.9).
 *
 * It has two forms of 64 bits: conditioned (L = 1), processed by the hardware to reduce bias, and raw (L = 2), the
 * output of the noise source. Both are of a random bit generator that is "SP 800-90B and SP 800-90C compliant to the
 * extent possible given the completeness of the standards", and has "a minimum of 0.5 bits of entropy per bit": 32 bits
 * a word, which is what the health tests' cutoffs claim.
 *
 * All ones: no random number. Software is to try again, and after several attempts to use another generator.
 */

#ifndef DRNG_ROWS_POWER_H
#define DRNG_ROWS_POWER_H

#define DRNG_EACH_INSTRUCTION(X)                                                                                       \
    X(DRNG_DARN, "darn")                                                                                               \
    X(DRNG_DARN_RAW, "darn-raw")

/* A word has half the entropy that its length promises: good for request mixing, and not handed out as it is. */
enum { DRNG_HAS_GENERATOR = 0 };
#define DRNG_WORDS_ROW  DRNG_DARN
#define DRNG_WORDS_NAME "DARN"

#define DRNG_MASKED_TEXT "masked"

#endif
