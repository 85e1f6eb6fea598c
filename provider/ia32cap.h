/* ia32cap.h - OpenSSL's view of the CPU: OPENSSL_ia32cap(3), the mask that its users know. */

#ifndef DRNG_IA32CAP_H
#define DRNG_IA32CAP_H

#include "mixing/machine/eligibility.h"

/*
 * Marks the instructions that libcrypto's effective capability vector lacks as masked, and takes the AES
 * instructions it lacks out of evidence->cpu. Does nothing where libcrypto keeps no such vector.
 */
void drng_ia32cap_apply(struct drng_evidence *evidence);

/* The same for a text in the form of OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS); NULL is none. */
void drng_ia32cap_apply_text(struct drng_evidence *evidence, const char *text);

#endif
