/* OPENSSL_ia32cap where there is no ia32: libcrypto does not read it there either. */

#include "provider/ia32cap.h"

void drng_ia32cap_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    (void)evidence;
    (void)libcrypto_version;
}
