/*
 * cpu.h - the processor: what it is, and the words of its random number generator.
 *
 * A link-time seam: cpu_x86.c and words_x86.c are the product, cpu_none.c stands in where there are no such
 * instructions, and the tests link a scripted CPU in their place.
 *
 * Only the 64-bit forms are used: the narrow forms of RDSEED return 0 with CF = 1 on AMD Zen 5
 * (AMD-SB-7055, CVE-2025-62626).
 */

#ifndef DRNG_CPU_H
#define DRNG_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/instruction.h"

/* What CPUID says; nothing here is policy. */
struct drng_cpu {
    char vendor[13]; /* "AuthenticAMD", NUL-terminated */
    unsigned family; /* display family: base plus extended */
    unsigned model;  /* display model */
    bool hypervisor; /* CPUID.1:ECX[31] */
    bool has[DRNG_INSTRUCTIONS];
    bool aes;     /* AES-NI with SSSE3 */
    bool vaes256; /* VAES with AVX2, and the system saves YMM registers */
    bool vaes512; /* VAES with AVX-512F, BW and VL, and the system saves ZMM registers */
};

void drng_cpu_identify(struct drng_cpu *cpu);

/*
 * Clears the vector registers. To be called on the way out of whatever handled secrets: the compiler moves them
 * through these registers, and a signal, a lazily bound symbol or a core dump would write them to memory.
 */
void drng_cpu_clear_vectors(void);

#endif
