#include "provider/armcap.h"
#include "provider/masks.h"

/* Every version of libcrypto reads OPENSSL_armcap in the same way. */
void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    (void)libcrypto_version;
    drng_armcap_apply(evidence);
}
