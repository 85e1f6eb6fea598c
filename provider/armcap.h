/*
 * armcap.h - OPENSSL_armcap, the variable by which users of OpenSSL on ARM say what its CPU has, read as libcrypto
 * reads it.
 */

#ifndef DRNG_ARMCAP_H
#define DRNG_ARMCAP_H

#include <stdint.h>

#include "mixing/machine/eligibility.h"

/* A bit of 0 is masked: the bits of libcrypto's OPENSSL_armcap_P. value NULL: the variable is not set. */
uint32_t drng_armcap_read(const char *value);

/* Removes masked AES instructions from evidence->cpu. Adds none. */
void drng_armcap_mask(struct drng_evidence *evidence, uint32_t left);

/* Reads the environment and masks. */
void drng_armcap_apply(struct drng_evidence *evidence);

#endif
