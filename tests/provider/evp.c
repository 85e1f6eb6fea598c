/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/provider/evp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/conf.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "mixing/machine/instruction.h"

static const char pinned[] = "openssl_conf = init\n"
                             "[init]\n"
                             "random = rand\n"
                             "providers = provs\n"
                             "[rand]\n"
                             "random = CTR-DRBG\n"
                             "properties = provider=drng\n"
                             "seed = DRNG-SEED\n"
                             "seed_properties = provider=drng\n"
                             "[provs]\n"
                             "default = default_sect\n"
                             "drng = drng_sect\n"
                             "[default_sect]\n"
                             "activate = 1\n"
                             "[drng_sect]\n"
                             "activate = 1\n";

static bool quiet;

void evp_be_quiet(void)
{
    quiet = true;
}

static void print_errors(void)
{
    if (!quiet) {
        ERR_print_errors_fp(stderr);
    }
}

/* OSSL_LIB_CTX_load_config() wants a file; a file in memory will do. */
static bool load(OSSL_LIB_CTX *libctx, const char *config)
{
    char path[64];
    FILE *file = tmpfile();
    if (file == NULL || fputs(config, file) == EOF || fflush(file) != 0) {
        return false;
    }
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
    const bool loaded = OSSL_LIB_CTX_load_config(libctx, path) == 1;
    (void)fclose(file);
    return loaded;
}

OSSL_LIB_CTX *evp_context_with(const char *config)
{
    OSSL_LIB_CTX *libctx = OSSL_LIB_CTX_new();
    if (libctx == NULL || !evp_make_loadable(libctx) || !load(libctx, config)) {
        print_errors();
        OSSL_LIB_CTX_free(libctx);
        return NULL;
    }
    return libctx;
}

OSSL_LIB_CTX *evp_context(const char *keys)
{
    char config[1024];
    (void)snprintf(config, sizeof(config), "%s%s", pinned, keys);
    return evp_context_with(config);
}

bool evp_configure_default(void)
{
    return evp_make_loadable(NULL) && load(NULL, pinned);
}

EVP_RAND_CTX *evp_rand(OSSL_LIB_CTX *libctx, const char *name, const char *query, EVP_RAND_CTX *parent)
{
    EVP_RAND *algorithm = EVP_RAND_fetch(libctx, name, query);
    EVP_RAND_CTX *rand = algorithm != NULL ? EVP_RAND_CTX_new(algorithm, parent) : NULL;
    if (rand == NULL) {
        print_errors();
    }
    EVP_RAND_free(algorithm);
    return rand;
}

EVP_RAND_CTX *evp_rand_ready(OSSL_LIB_CTX *libctx, const char *name, const char *query, EVP_RAND_CTX *parent)
{
    EVP_RAND_CTX *rand = evp_rand(libctx, name, query, parent);
    if (rand != NULL && EVP_RAND_instantiate(rand, 0, 0, NULL, 0, NULL) != 1) {
        print_errors();
        EVP_RAND_CTX_free(rand);
        rand = NULL;
    }
    return rand;
}

const char *evp_server(EVP_RAND_CTX *rand)
{
    return rand == NULL ? "" : OSSL_PROVIDER_get0_name(EVP_RAND_get0_provider(EVP_RAND_CTX_get0_rand(rand)));
}

static bool get_provider_param(OSSL_LIB_CTX *libctx, OSSL_PARAM params[])
{
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    const bool got = provider != NULL && OSSL_PROVIDER_get_params(provider, params) == 1 && OSSL_PARAM_modified(params);
    OSSL_PROVIDER_unload(provider);
    return got;
}

/* Not by CUnit, which asserts only where a suite runs. */
static void must_have(bool got, const char *name)
{
    if (!got) {
        (void)fprintf(stderr, "there is no parameter %s\n", name);
        abort();
    }
}

uint64_t evp_counter(OSSL_LIB_CTX *libctx, const char *name)
{
    uint64_t value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint64(name, &value), OSSL_PARAM_construct_end()};
    must_have(get_provider_param(libctx, params), name);
    return value;
}

uint64_t evp_hardware_seeds(OSSL_LIB_CTX *libctx)
{
    uint64_t seeds = 0;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "seeds-%s", drng_instruction_flag(i));
        seeds += evp_counter(libctx, name);
    }
    return seeds;
}

const char *evp_words_name(void)
{
    return DRNG_HAS_GENERATOR ? DRNG_WORDS_NAME : NULL;
}

const char *evp_words_that_serve(OSSL_LIB_CTX *libctx)
{
    const char *name = evp_words_name();
    unsigned char word[8];
    EVP_RAND_CTX *rand = name != NULL ? evp_rand_ready(libctx, name, "provider=drng", NULL) : NULL;
    const bool serves = rand != NULL && EVP_RAND_generate(rand, word, sizeof(word), 0, 0, NULL, 0) == 1;
    EVP_RAND_CTX_free(rand);
    ERR_clear_error();
    if (!serves) {
        (void)printf("no generator among the instructions that may be used here, skipped ");
    }
    return serves ? name : NULL;
}

const char *evp_text(OSSL_LIB_CTX *libctx, const char *name)
{
    char *value = NULL;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr(name, &value, 0), OSSL_PARAM_construct_end()};
    must_have(get_provider_param(libctx, params), name);
    return value;
}

size_t evp_size(EVP_RAND_CTX *rand, const char *name)
{
    size_t value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(name, &value), OSSL_PARAM_construct_end()};
    must_have(EVP_RAND_CTX_get_params(rand, params) == 1 && OSSL_PARAM_modified(params), name);
    return value;
}

bool evp_set_uint(EVP_RAND_CTX *rand, const char *name, unsigned value)
{
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(name, &value), OSSL_PARAM_construct_end()};
    return EVP_RAND_CTX_set_params(rand, params) == 1;
}

bool evp_error(const char *reason, const char *data)
{
    const char *text = NULL;
    int flags = 0;
    bool found = false;
    unsigned long error = 0;
    while ((error = ERR_get_error_all(NULL, NULL, NULL, &text, &flags)) != 0) {
        const char *said = ERR_reason_error_string(error);
        const bool right_reason = reason == NULL || (said != NULL && strstr(said, reason) != NULL);
        const bool right_data = data == NULL || ((flags & ERR_TXT_STRING) != 0 && strstr(text, data) != NULL);
        found = found || (right_reason && right_data);
    }
    return found;
}
