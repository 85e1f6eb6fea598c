/*
 * rows_none.h - processors without an instruction for programs: one row, which no CPU has, so that all that goes
 * through the rows finds one.
 *
 * RISC-V has such an instruction, a read of the register `seed` (Zkr). Programs may not execute it unless the machine's
 * firmware sets mseccfg.USEED, and OpenSBI does not; the kernel reads it. RISC-V's scalar cryptography extension, 4.3,
 * advises to leave it that way, since whoever reads the register takes entropy away from the others.
 */

#ifndef DRNG_ROWS_NONE_H
#define DRNG_ROWS_NONE_H

#define DRNG_EACH_INSTRUCTION(X) X(DRNG_NONE, "none")

enum { DRNG_HAS_GENERATOR = 0 };
#define DRNG_WORDS_ROW  DRNG_NONE
#define DRNG_WORDS_NAME "none"

#define DRNG_MASKED_TEXT "masked"

#endif
