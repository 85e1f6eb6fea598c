/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ia32cap.c - what OPENSSL_ia32cap leaves of the CPU: libcrypto's own words, and what drng makes of the same variable,
 * as JSON. For tests/system/test_ia32cap.py.
 */

#include <stdio.h>

#include <openssl/crypto.h>

#include "provider/masks.h"

/* A CPU with everything, from which the variable of this environment takes. */
static struct drng_evidence masked_from_everything(void)
{
    struct drng_evidence evidence = {
        .cpu = {.has = {true, true}, .aes = true, .avx = true, .vaes256 = true, .vaes512 = true}};
    drng_masks_apply(&evidence, OpenSSL_version(OPENSSL_VERSION_STRING));
    return evidence;
}

int main(void)
{
    const char *libcrypto = OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
    const struct drng_evidence evidence = masked_from_everything();
    const struct drng_cpu *cpu = &evidence.cpu;
    (void)printf("{\"words\": \"%.*s\", \"rdrand\": %d, \"rdseed\": %d, \"aes\": %d, \"avx\": %d, \"vaes256\": %d, "
                 "\"vaes512\": %d}\n",
                 libcrypto != NULL ? (int)__builtin_strcspn(libcrypto, " \"\\") : 0, libcrypto != NULL ? libcrypto : "",
                 !evidence.masked[DRNG_RDRAND], !evidence.masked[DRNG_RDSEED], cpu->aes, cpu->avx, cpu->vaes256,
                 cpu->vaes512);
    return 0;
}
