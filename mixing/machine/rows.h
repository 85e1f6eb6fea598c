/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the list of the instructions of the processor that this is compiled for.
 *
 * DRNG_EACH_INSTRUCTION has them in the order in which they are asked for a seed, with the names that openssl.cnf and
 * parameters have. What the maker claims of a word, and when the instruction fails, stands here with its source;
 * docs/entropy.md says what follows. The words of DRNG_WORDS_INSTRUCTION serve unconditioned: for request mixing and,
 * with DRNG_HAS_GENERATOR, as an algorithm of its name.
 *
 * The tests choose the list of x86-64 on every processor: tests/scripted/x86/mixing/machine/rows.h.
 */

#pragma once

/* ---- x86 ---- */
#if defined(__x86_64__) && defined(__LP64__)
/*
 * CF = 0: RDSEED waits for entropy, which is usual under load; RDRAND does not fail on a CPU that works. RDSEED's words
 * are of the entropy source, RDRAND's of a DRBG that it reseeds: Intel's DRNG guide, 3.2 and 4.2.
 */
#define DRNG_EACH_INSTRUCTION(X)                                                                                       \
    X(DRNG_RDSEED, "rdseed")                                                                                           \
    X(DRNG_RDRAND, "rdrand")
enum { DRNG_HAS_GENERATOR = 1 };
#define DRNG_WORDS_INSTRUCTION DRNG_RDRAND
#define DRNG_WORDS_NAME        "RDRAND"
#define DRNG_MASKED_TEXT       "masked by OPENSSL_ia32cap"

/* ---- arm ---- */
#elif defined(__aarch64__) && defined(__LP64__)
/*
 * Reads of the registers RNDRRS and RNDR, FEAT_RNG (Arm DDI 0487, D24.2): both are a DRBG that "should conform" to SP
 * 800-90A and is seeded from a true random number generator that "should conform" to SP 800-90B. RNDRRS is reseeded
 * before each word: a word of "fresh full entropy". RNDR is reseeded "at an IMPLEMENTATION DEFINED rate", which no
 * maker has published.
 *
 * NZCV = 0b0100 and a word of 0: no random number came in a reasonable time, which is implementation defined, too. That
 * is "unusual" by the manual, yet on some machines RNDR fails for hours now and then (aws-lc issue 3453, on Axion), and
 * on some RNDRRS fails always (FEX-Emu issue 3726; bitcoin pull request 31826).
 */
#define DRNG_EACH_INSTRUCTION(X)                                                                                       \
    X(DRNG_RNDRRS, "rndrrs")                                                                                           \
    X(DRNG_RNDR, "rndr")
enum { DRNG_HAS_GENERATOR = 1 };
#define DRNG_WORDS_INSTRUCTION DRNG_RNDR
#define DRNG_WORDS_NAME        "RNDR"
#define DRNG_MASKED_TEXT       "masked by OPENSSL_armcap"

/* ---- none ---- */
#else
/*
 * One row, which no CPU has, so that all that goes through the rows finds one. RISC-V has such an instruction, a read
 * of the register `seed` (Zkr). Programs may not execute it unless the machine's firmware sets mseccfg.USEED, and
 * OpenSBI does not; the kernel reads it. RISC-V's scalar cryptography extension, 4.3, advises to leave it that way,
 * since whoever reads the register takes entropy away from the others.
 */
#define DRNG_EACH_INSTRUCTION(X) X(DRNG_NONE, "none")
enum { DRNG_HAS_GENERATOR = 0 };
#define DRNG_WORDS_INSTRUCTION   DRNG_NONE
#define DRNG_WORDS_NAME          "none"
#ifdef __riscv
#define DRNG_ABSENT_TEXT "RISC-V's register `seed` (Zkr) is the kernel's alone"
#else
#define DRNG_ABSENT_TEXT "this architecture has no such instruction"
#endif
#endif

#ifndef DRNG_MASKED_TEXT
#define DRNG_MASKED_TEXT "masked"
#endif
#ifndef DRNG_ABSENT_TEXT
#define DRNG_ABSENT_TEXT "not in this CPU"
#endif
