/*
 * drng reads the variable itself, and differs from libcrypto as with OPENSSL_ia32cap (ia32cap.c): the value replaces
 * what libcrypto knows of the CPU, and for drng only takes from it; drng reads it when the first provider is loaded;
 * and a set-user-ID program ignores it.
 */

#define _GNU_SOURCE

#include "provider/armcap.h"

#include <stdlib.h>

/* crypto/arm_arch.h in libcrypto */
enum { ARMV8_AES = 1 << 2, ARMV8_RNG = 1 << 8 };

/* What is no number is 0 for strtoul(), and masks everything there, too. */
uint32_t drng_armcap_read(const char *value)
{
    return value != NULL ? (uint32_t)strtoul(value, NULL, 0) : UINT32_MAX;
}

void drng_armcap_mask(struct drng_evidence *evidence, uint32_t left)
{
    evidence->cpu.aes = evidence->cpu.aes && (left & ARMV8_AES) != 0;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        evidence->masked[i] = (left & ARMV8_RNG) == 0;
    }
}

void drng_armcap_apply(struct drng_evidence *evidence)
{
    drng_armcap_mask(evidence, drng_armcap_read(secure_getenv("OPENSSL_armcap")));
}
