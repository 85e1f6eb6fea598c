/*
 * params.h - OSSL_PARAM(3): what a caller asks for by name, and what it hands in.
 *
 * In the place of libcrypto's OSSL_PARAM_get_*() and OSSL_PARAM_set_*(), which the module cannot call: it is to be
 * linked to no libcrypto. The results are those of OpenSSL 3.0; later ones differ in what they say of a failure. Arrays
 * end with a NULL key, or are NULL; of two entries of one key the first counts.
 */

#ifndef DRNG_PARAMS_H
#define DRNG_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <openssl/core.h>

/*
 * Answer the entry of that key; true if there is none. Integers go into integers of any size and sign, and into a
 * double, if they fit exactly. Data that is NULL asks for return_size alone. False where the value does not fit, or the
 * type is another: the data is as it was, and return_size says how much is needed, 0 where no size would do.
 */
bool drng_params_set_int(OSSL_PARAM params[], const char *key, int value);
bool drng_params_set_uint(OSSL_PARAM params[], const char *key, unsigned value);
bool drng_params_set_uint64(OSSL_PARAM params[], const char *key, uint64_t value);
bool drng_params_set_size(OSSL_PARAM params[], const char *key, size_t value);
bool drng_params_set_time(OSSL_PARAM params[], const char *key, time_t value);

/* A copy, with a NUL where there is room for it; return_size does not count the NUL. NULL cannot be set. */
bool drng_params_set_utf8_string(OSSL_PARAM params[], const char *key, const char *value);

/* The pointer itself, to what stays. */
bool drng_params_set_utf8_ptr(OSSL_PARAM params[], const char *key, const char *value);

/* Either of the two, as the caller's type says. */
bool drng_params_set_text(OSSL_PARAM params[], const char *key, const char *value);

/* Take the entry of that key into *value, which stays as it is if there is none. False: another type, or no such value.
 */
bool drng_params_get_int(const OSSL_PARAM params[], const char *key, int *value);
bool drng_params_get_uint(const OSSL_PARAM params[], const char *key, unsigned *value);
bool drng_params_get_time(const OSSL_PARAM params[], const char *key, time_t *value);

/* The caller's own text, which ends after len bytes: before a NUL, or where the data does. */
bool drng_params_get_utf8_string(const OSSL_PARAM params[], const char *key, const char **text, size_t *len);

#endif
