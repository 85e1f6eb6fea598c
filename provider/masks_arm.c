/* SPDX-License-Identifier: Apache-2.0 */
/* OPENSSL_armcap. Every version of libcrypto reads it in the same way. */

#define _GNU_SOURCE

#include <stdlib.h>

#include "provider/masks.h"

enum { ARMV8_AES = 2 }; /* ARMV8_AES of crypto/arm_arch.h in libcrypto is 1 << 2; ARMV8_RNG is in the rows */

/* What is no number is 0 for strtoul(), and masks everything there, too. */
struct drng_masks drng_masks_read(const char *value, bool keeps_empty)
{
    (void)keeps_empty;
    return (struct drng_masks){{value != NULL ? (uint32_t)strtoul(value, NULL, 0) : UINT32_MAX}};
}

void drng_masks_mask(struct drng_evidence *evidence, const struct drng_masks *left)
{
    drng_masks_mask_instructions(evidence, left);
    evidence->cpu.aes = evidence->cpu.aes && drng_masks_leave(left, ARMV8_AES);
}

void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    (void)libcrypto_version;
    const struct drng_masks left = drng_masks_read(secure_getenv("OPENSSL_armcap"), false);
    drng_masks_mask(evidence, &left);
}
