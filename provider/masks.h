/* masks.h - the variable by which users of OpenSSL mask instructions on this architecture. */

#ifndef DRNG_MASKS_H
#define DRNG_MASKS_H

#include "mixing/machine/eligibility.h"

/*
 * Reads the environment and masks what it names in *evidence: masks_x86.c by OPENSSL_ia32cap, masks_arm.c by
 * OPENSSL_armcap, masks_none.c nothing. libcrypto_version is that of the libcrypto that loads the provider, NULL if it
 * does not say.
 */
void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version);

#endif
