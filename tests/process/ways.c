/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/process/ways.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "tests/process/pool.h"
#include "tests/provider/evp.h"

enum { LIBCRYPTOS = 3, OWN = 4, MAX_WAYS = LIBCRYPTOS + OWN };

static OSSL_LIB_CTX *context;
static EVP_RAND_CTX *chain_parent;
static EVP_RAND_CTX *generators[MAX_WAYS];
static unsigned count;

static bool add(EVP_RAND_CTX *rand)
{
    unsigned char draw[POOL_DRAW];
    if (rand == NULL || EVP_RAND_generate(rand, draw, sizeof(draw), 0, 0, NULL, 0) != 1) {
        return false;
    }
    generators[count++] = rand;
    return true;
}

static EVP_RAND_CTX *chained(void)
{
    int use_df = 0;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    EVP_RAND_CTX *parent = evp_rand_ready(context, "CTR-DRBG", "provider=drng", NULL);
    EVP_RAND_CTX *rand = evp_rand(context, "CTR-DRBG", "provider=drng", parent);
    chain_parent = parent;
    return EVP_RAND_instantiate(rand, 0, 0, NULL, 0, params) == 1 ? rand : NULL;
}

static bool open_own(void)
{
    if (!add(evp_rand_ready(context, "CTR-DRBG", "provider=drng", NULL)) || !add(chained()) ||
        !add(evp_rand_ready(context, "DRNG-SEED", "provider=drng", NULL))) {
        return false;
    }
    /* Not on every CPU. */
    const char *words = evp_words_name();
    EVP_RAND_CTX *rand = words != NULL ? evp_rand_ready(context, words, "provider=drng", NULL) : NULL;
    if (!add(rand)) {
        EVP_RAND_CTX_free(rand);
        ERR_clear_error();
    }
    return true;
}

bool ways_open(OSSL_LIB_CTX *libctx)
{
    unsigned char warm[16];
    context = libctx;
    count = 0;
    if (RAND_bytes_ex(libctx, warm, sizeof(warm), 0) != 1 || RAND_priv_bytes_ex(libctx, warm, sizeof(warm), 0) != 1 ||
        !add(RAND_get0_primary(libctx)) || !add(RAND_get0_public(libctx)) || !add(RAND_get0_private(libctx)) ||
        !open_own()) {
        ERR_print_errors_fp(stderr);
        return false;
    }
    return true;
}

void ways_close(void)
{
    for (unsigned i = LIBCRYPTOS; i < count; i++) {
        EVP_RAND_CTX_free(generators[i]);
    }
    EVP_RAND_CTX_free(chain_parent);
    count = 0;
}

bool ways_draw(unsigned times)
{
    unsigned char draw[POOL_DRAW];
    for (unsigned i = 0; i < times * count; i++) {
        if (EVP_RAND_generate(generators[i % count], draw, sizeof(draw), 0, 0, NULL, 0) != 1 || !pool_add(draw)) {
            return false;
        }
    }
    return true;
}

unsigned ways_count(void)
{
    return count;
}
