/*
 * rows.h - the list of the instructions of the processor that this is compiled for.
 *
 * Each rows_*.h has the list DRNG_EACH_INSTRUCTION, in the order in which they are asked for a seed. The lower-case
 * name is used in openssl.cnf and in parameters. What the maker claims of a word, and when the instruction fails,
 * stands there with its source; docs/entropy.md says what follows.
 *
 * The tests put another list in its place: tests/scripted_x86/mixing/machine/rows.h.
 */

#ifndef DRNG_ROWS_H
#define DRNG_ROWS_H

#if defined(__x86_64__) && defined(__LP64__)
#include "mixing/machine/rows_x86.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "mixing/machine/rows_arm.h"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#include "mixing/machine/rows_power.h"
#elif defined(__s390x__)
#include "mixing/machine/rows_z.h"
#else
#include "mixing/machine/rows_none.h"
#endif

#endif
