/*
 * rows_z.h - the instruction of IBM Z: PRNO with function 114, PRNO-TRNG (z/Architecture Principles of Operation,
 * SA22-7832, "Perform Random Number Operation"), since z14.
 *
 * It stores raw numbers, which "are not conditioned", at its first operand and conditioned numbers at its second one.
 * drng takes the conditioned ones, as the kernel does: IBM's driver credits them with full entropy, in chunks of 32
 * bytes (arch/s390/crypto/prng.c). For the raw ones IBM claims no rate: function 112 only says how many of them the
 * machine uses up for a conditioned one.
 *
 * It has no failure. Condition code 3 means that the CPU has stopped early, and that the program is to go on.
 */

#ifndef DRNG_ROWS_Z_H
#define DRNG_ROWS_Z_H

#define DRNG_EACH_INSTRUCTION(X) X(DRNG_TRNG, "trng")

/* "Not intended to provide mass random data" (IBM, device drivers, "True random number generator"). */
enum { DRNG_HAS_GENERATOR = 0 };
#define DRNG_WORDS_ROW  DRNG_TRNG
#define DRNG_WORDS_NAME "TRNG"

#define DRNG_MASKED_TEXT "masked"

#endif
