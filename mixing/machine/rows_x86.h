/*
 * rows_x86.h - the instructions of x86-64. The name in openssl.cnf is the kernel's flag in /proc/cpuinfo, too.
 *
 * CF = 0: RDSEED waits for entropy, which is usual under load; RDRAND does not fail on a CPU that works. RDSEED's words
 * are of the entropy source, RDRAND's of a DRBG that it reseeds: Intel's DRNG guide, 3.2 and 4.2.
 */

#ifndef DRNG_ROWS_X86_H
#define DRNG_ROWS_X86_H

#define DRNG_EACH_INSTRUCTION(X)                                                                                       \
    X(DRNG_RDSEED, "rdseed")                                                                                           \
    X(DRNG_RDRAND, "rdrand")

enum { DRNG_HAS_GENERATOR = 1 };
#define DRNG_WORDS_ROW  DRNG_RDRAND
#define DRNG_WORDS_NAME "RDRAND"

#define DRNG_MASKED_TEXT "masked by OPENSSL_ia32cap"

#endif
