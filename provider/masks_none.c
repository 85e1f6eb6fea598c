/* SPDX-License-Identifier: Apache-2.0 */
/* Where drng uses no instruction that a variable of OpenSSL masks. */

#include "provider/masks.h"

void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    (void)evidence;
    (void)libcrypto_version;
}
