/*
 * ia32cap.h - OPENSSL_ia32cap(3), the variable by which users of OpenSSL mask instructions, read as libcrypto reads it.
 */

#ifndef DRNG_IA32CAP_H
#define DRNG_IA32CAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/eligibility.h"

/* A bit of 0 is masked. The first two words of libcrypto: CPUID.1 EDX and ECX, then CPUID.7.0 EBX and ECX. */
struct drng_ia32cap {
    uint64_t word[2];
};

/*
 * The words after applying the variable's value; NULL if it is not set. keeps_empty: an empty second word changes
 * nothing, as since OpenSSL 3.5; before, it masks every bit.
 */
struct drng_ia32cap drng_ia32cap_read(const char *value, bool keeps_empty);

/* Marks the masked instructions, and removes masked AES instructions from evidence->cpu. Adds none. */
void drng_ia32cap_mask(struct drng_evidence *evidence, const struct drng_ia32cap *left);

/*
 * Reads the environment and masks. libcrypto_version is that of the libcrypto that loads the provider, NULL if it does
 * not say.
 */
void drng_ia32cap_apply(struct drng_evidence *evidence, const char *libcrypto_version);

#endif
