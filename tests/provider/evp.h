/*
 * evp.h - the provider in a library context of the test's own, through libcrypto's public functions.
 *
 * Two ways to load it: the module as it is shipped, from the build's directory, or linked into the test, perhaps with
 * the scripted CPU, and registered as a built-in. What the test links decides: evp_module.c or evp_builtin.c.
 */

#ifndef TEST_EVP_H
#define TEST_EVP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

/* From now on errors are not printed. */
void evp_be_quiet(void);

/* Makes "drng" loadable in this context. */
bool evp_make_loadable(OSSL_LIB_CTX *libctx);

/* A context in which the provider sections of this openssl.cnf have been loaded; NULL with the errors printed. */
OSSL_LIB_CTX *evp_context_with(const char *config);

/*
 * A context configured like conf/drng.cnf; `keys` are lines for the provider's own section, "" for none.
 */
OSSL_LIB_CTX *evp_context(const char *keys);

/* The same in this process's default context, as openssl.cnf would; false: it did not load. */
bool evp_configure_default(void);

/* An instance of an algorithm, fetched with this property query; NULL, errors printed. Not instantiated. */
EVP_RAND_CTX *evp_rand(OSSL_LIB_CTX *libctx, const char *name, const char *query, EVP_RAND_CTX *parent);

/* The same, instantiated without parameters. */
EVP_RAND_CTX *evp_rand_ready(OSSL_LIB_CTX *libctx, const char *name, const char *query, EVP_RAND_CTX *parent);

/* The name of the provider that this generator came from; "" for NULL. */
const char *evp_server(EVP_RAND_CTX *rand);

/* Parameters of the provider and of a generator; the program ends where there is none of that name. */
uint64_t evp_counter(OSSL_LIB_CTX *libctx, const char *name);
const char *evp_text(OSSL_LIB_CTX *libctx, const char *name);
size_t evp_size(EVP_RAND_CTX *rand, const char *name);
bool evp_set_uint(EVP_RAND_CTX *rand, const char *name, unsigned value);

/*
 * Whether the error queue holds an error whose reason contains this, and data that contains that, NULL for any; empties
 * it.
 */
bool evp_error(const char *reason, const char *data);

#endif
