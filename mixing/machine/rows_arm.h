/*
 * rows_arm.h - the instructions of 64-bit Arm: reads of the registers RNDRRS and RNDR, FEAT_RNG (Arm DDI 0487, D24.2).
 *
 * Both are a DRBG that "should conform" to SP 800-90A and is seeded from a true random number generator that "should
 * conform" to SP 800-90B. RNDRRS is reseeded before each word: a word of "fresh full entropy". RNDR is reseeded "at an
 * IMPLEMENTATION DEFINED rate", which no maker has published.
 *
 * NZCV = 0b0100 and a word of 0: no random number came in a reasonable time, which is implementation defined, too. That
 * is "unusual" by the manual, yet on some machines RNDR fails for hours now and then (aws-lc issue 3453, on Axion), and
 * on some RNDRRS fails always (FEX-Emu issue 3726; bitcoin pull request 31826).
 */

#ifndef DRNG_ROWS_ARM_H
#define DRNG_ROWS_ARM_H

#define DRNG_EACH_INSTRUCTION(X)                                                                                       \
    X(DRNG_RNDRRS, "rndrrs")                                                                                           \
    X(DRNG_RNDR, "rndr")

enum { DRNG_HAS_GENERATOR = 1 };
#define DRNG_WORDS_ROW  DRNG_RNDR
#define DRNG_WORDS_NAME "RNDR"

#define DRNG_MASKED_TEXT "masked by OPENSSL_armcap"

#endif
