/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/process/filtered.h"

#include <openssl/rand.h>

#include "tests/provider/evp.h"

static OSSL_LIB_CTX *libctx;

/* libcrypto reads openssl.cnf, too, which it would do at the first draw. */
bool filtered_load(void)
{
    (void)OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
    libctx = evp_context("");
    return libctx != NULL;
}

bool filtered_draw(void)
{
    unsigned char out[64];
    return RAND_bytes_ex(libctx, out, sizeof(out), 0) == 1 && RAND_priv_bytes_ex(libctx, out, sizeof(out), 0) == 1 &&
           EVP_RAND_reseed(RAND_get0_primary(libctx), 0, NULL, 0, NULL, 0) == 1;
}

bool filtered_draw_anew(void)
{
    unsigned char out[64];
    EVP_RAND_CTX *rand = evp_rand_ready(libctx, "CTR-DRBG", "provider=drng", NULL);
    const bool drawn = rand != NULL && EVP_RAND_generate(rand, out, sizeof(out), 0, 1, NULL, 0) == 1;
    EVP_RAND_CTX_free(rand);
    return drawn;
}
