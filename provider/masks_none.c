/* SPDX-License-Identifier: Apache-2.0 */
/* Where drng uses no instruction that a variable of OpenSSL masks. */

#include "mixing/result.h"
#include "provider/masks.h"

void drng_masks_apply(DRNG_UNUSED struct drng_evidence *evidence, DRNG_UNUSED const char *libcrypto_version) {}
