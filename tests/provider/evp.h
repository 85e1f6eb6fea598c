/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evp.h - loads the provider into a library context of the test, through libcrypto's public functions.
 *
 * The provider is either the module in the build's directory, or linked into the test, perhaps with the scripted CPU,
 * and registered as a built-in. What the test links decides: evp_module.c or evp_builtin.c.
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

/* A context with the provider sections of this openssl.cnf loaded; NULL, with the errors printed, if that fails. */
OSSL_LIB_CTX *evp_context_with(const char *config);

/*
 * A context configured like conf/drng.cnf; `keys` are lines for the provider's own section, "" for none.
 */
OSSL_LIB_CTX *evp_context(const char *keys);

/* The same for this process's default context. False: the provider did not load. */
bool evp_configure_default(void);

/* A new, not instantiated generator of an algorithm fetched with this property query; NULL, with the errors printed. */
EVP_RAND_CTX *evp_rand(OSSL_LIB_CTX *libctx, const char *name, const char *query, EVP_RAND_CTX *parent);

/* The same, instantiated without parameters. */
EVP_RAND_CTX *evp_rand_ready(OSSL_LIB_CTX *libctx, const char *name, const char *query, EVP_RAND_CTX *parent);

/* The name of the provider that this generator belongs to; "" for NULL. */
const char *evp_server(EVP_RAND_CTX *rand);

/* A parameter of the provider or of a generator. Without such a parameter the program ends. */
uint64_t evp_counter(OSSL_LIB_CTX *libctx, const char *name);

/* Seeds that any instruction has made. */
uint64_t evp_hardware_seeds(OSSL_LIB_CTX *libctx);

/* The algorithm that gives the words of the CPU's generator: "RDRAND"; NULL: this architecture has none. */
const char *evp_words_name(void);

/* The same, where it may also be used on this machine; NULL, after a line that says so, where it may not. */
const char *evp_words_that_serve(OSSL_LIB_CTX *libctx);

const char *evp_text(OSSL_LIB_CTX *libctx, const char *name);
size_t evp_size(EVP_RAND_CTX *rand, const char *name);
bool evp_set_uint(EVP_RAND_CTX *rand, const char *name, unsigned value);

/*
 * Whether the queue has an error whose reason contains `reason` and whose data contains `data`; NULL matches anything.
 * Empties the queue.
 */
bool evp_error(const char *reason, const char *data);

#endif
