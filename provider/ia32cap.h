/* ia32cap.h - OPENSSL_ia32cap(3): the mask of instructions that OpenSSL's users know, as libcrypto reads it. */

#ifndef DRNG_IA32CAP_H
#define DRNG_IA32CAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/eligibility.h"

/* Bits that are 0 are masked. The first two of libcrypto's words: CPUID.1 EDX and ECX, then CPUID.7.0 EBX and ECX. */
struct drng_ia32cap {
    uint64_t word[2];
};

/*
 * What the variable's value leaves; NULL: it is not set. keeps_empty: an empty second word changes nothing, as since
 * OpenSSL 3.5; before, it masks all.
 */
struct drng_ia32cap drng_ia32cap_read(const char *value, bool keeps_empty);

/* Marks the instructions that are masked, and takes the masked AES instructions out of evidence->cpu. Adds none. */
void drng_ia32cap_mask(struct drng_evidence *evidence, const struct drng_ia32cap *left);

/* All of it, from the environment; libcrypto_version: of the one that loads the provider, NULL if it does not say.
 */
void drng_ia32cap_apply(struct drng_evidence *evidence, const char *libcrypto_version);

#endif
