/* SPDX-License-Identifier: Apache-2.0 */
/* instructions_z.h - the only file that executes PRNO, as a number: assemblers for older machines do not know it. */

#ifndef DRNG_INSTRUCTIONS_Z_H
#define DRNG_INSTRUCTIONS_Z_H

#include <stdint.h>

/* Of PRNO, in general register 0. */
enum { DRNG_PRNO_QUERY = 0, DRNG_PRNO_TRNG = 114 };

/* Fills in the functions that PRNO has, a bit each, bit 0 first. To be called only with the facility bit 57. */
static inline void drng_execute_prno_query(uint8_t functions[16])
{
    register uint64_t function __asm__("r0") = DRNG_PRNO_QUERY;
    register void *block __asm__("r1") = functions;
    __asm__ volatile(".insn rre,0xb93c0000,%%r2,%%r4" : : "d"(function), "a"(block) : "cc", "memory");
}

/* No raw numbers, and eight bytes of conditioned ones. Returns the condition code: 0 or, if the CPU stopped early, 3.
 */
static inline unsigned drng_execute_trng(uint64_t *word)
{
    register uint64_t function __asm__("r0") = DRNG_PRNO_TRNG;
    register void *block __asm__("r1") = 0;
    register void *raw __asm__("r2") = 0;
    register uint64_t raw_len __asm__("r3") = 0;
    register uint64_t *conditioned __asm__("r4") = word;
    register uint64_t conditioned_len __asm__("r5") = sizeof(*word);
    unsigned code;
    __asm__ volatile(".insn rre,0xb93c0000,%%r2,%%r4\n\tipm %[code]\n\tsrl %[code],28"
                     : [code] "=&d"(code), "+a"(raw), "+d"(raw_len), "+a"(conditioned), "+d"(conditioned_len)
                     : "d"(function), "a"(block)
                     : "cc", "memory");
    return code;
}

#endif
