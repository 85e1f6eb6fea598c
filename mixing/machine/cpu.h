/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - the processor: what it is, and the words of its random number generator.
 *
 * A link-time seam: the product links x86.c and instructions_x86.c, or the file of another architecture, or none.c on
 * processors without these instructions. The tests link a scripted CPU instead.
 *
 * Only the 64-bit forms are used: the narrow forms of RDSEED return 0 with CF = 1 on AMD Zen 5 (AMD-SB-7055,
 * CVE-2025-62626).
 */

#pragma once

#include <stdbool.h>

#include "mixing/machine/instruction.h"

/*
 * The answers of CPUID, or of the kernel where programs cannot ask the CPU. eligibility.c decides which instructions
 * may be used.
 */
struct drng_cpu {
    char vendor[13];   /* "AuthenticAMD", NUL-terminated */
    unsigned family;   /* display family: base plus extended */
    unsigned model;    /* display model */
    bool hypervisor;   /* CPUID.1:ECX[31]; on Arm nothing tells, so there may be one */
    bool confidential; /* the guest does not trust its host: AMD SEV, Intel TDX */
    bool has[DRNG_INSTRUCTIONS];
    bool aes;     /* AES-NI with SSE4.2; FEAT_AES on 64-bit Arm */
    bool avx;     /* aes, and the system saves YMM registers */
    bool vaes256; /* VAES with AVX2, and the system saves YMM registers */
    bool vaes512; /* vaes256 with AVX-512F, BW and VL, and the system saves ZMM registers */
};

/* A range of CPU models whose instruction is known to return words that are not random. */
struct drng_broken_part {
    const char *vendor;
    unsigned first_family;
    unsigned last_family;
    unsigned first_model;
    unsigned last_model;
    bool broken[DRNG_INSTRUCTIONS];
    bool kernel_decides; /* the row holds where the kernel says so, or cannot be asked */
};

/* Ends with one whose vendor is NULL. */
extern const struct drng_broken_part drng_broken_parts[];

void drng_cpu_identify(struct drng_cpu *cpu);

/* x86-64: subleaf 0 of a leaf of CPUID, which the CPU has. */
struct drng_cpuid {
    unsigned eax, ebx, ecx, edx;
};
typedef void drng_cpuid_asked(unsigned leaf, struct drng_cpuid *answer);

/* drng_cpu_identify() by these answers, of which it takes six at most. */
void drng_x86_identify(struct drng_cpu *cpu, drng_cpuid_asked *ask);

/*
 * Clears the vector registers: on x86-64 those of SSE before drng_cpu_identify(), then all that the CPU has, whatever a
 * mask of OpenSSL's leaves: the C library's memcpy() knows no mask. To be called after work on secrets: the compiler
 * copies secrets into these registers, and a signal, a lazily bound symbol or a core dump would write them to memory.
 */
void drng_cpu_clear_vectors(void);
