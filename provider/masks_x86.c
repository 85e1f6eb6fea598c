#include "provider/ia32cap.h"
#include "provider/masks.h"

void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    drng_ia32cap_apply(evidence, libcrypto_version);
}
