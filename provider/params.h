/*
 * params.h - reads and writes OSSL_PARAM(3) arrays.
 *
 * Replaces libcrypto's OSSL_PARAM_get_*() and OSSL_PARAM_set_*(), which the module cannot call, since it is linked to
 * no libcrypto. The results are those of OpenSSL 3.0; later versions set return_size differently on failure. An array
 * is NULL or ends with a NULL key. If a key occurs twice, the first entry counts.
 */

#ifndef DRNG_PARAMS_H
#define DRNG_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <openssl/core.h>

/*
 * Set the entry of this key; true if there is none. An integer fits into an integer of any size and signedness, or a
 * double, that can hold it exactly. If data is NULL, only return_size is set. False if the value does not fit or the
 * entry has another type: the data is unchanged, and return_size is the size needed, or 0 if none would do.
 */
bool drng_params_set_int(OSSL_PARAM params[], const char *key, int value);
bool drng_params_set_uint(OSSL_PARAM params[], const char *key, unsigned value);
bool drng_params_set_uint64(OSSL_PARAM params[], const char *key, uint64_t value);
bool drng_params_set_size(OSSL_PARAM params[], const char *key, size_t value);
bool drng_params_set_time(OSSL_PARAM params[], const char *key, time_t value);

/* Copies the string, with a NUL if there is room. return_size does not count the NUL. NULL cannot be set. */
bool drng_params_set_utf8_string(OSSL_PARAM params[], const char *key, const char *value);

/* Stores the pointer; the string must outlive the caller's use. */
bool drng_params_set_utf8_ptr(OSSL_PARAM params[], const char *key, const char *value);

/* Sets a string or a pointer, by the type of the caller's entry. */
bool drng_params_set_text(OSSL_PARAM params[], const char *key, const char *value);

/*
 * Read the entry of this key into *value; without such an entry *value stays. False: the entry has another type, or a
 * value that does not fit.
 */
bool drng_params_get_int(const OSSL_PARAM params[], const char *key, int *value);
bool drng_params_get_uint(const OSSL_PARAM params[], const char *key, unsigned *value);
bool drng_params_get_time(const OSSL_PARAM params[], const char *key, time_t *value);

/* *text points into the caller's data, and has *len bytes: up to a NUL, or to the end of the data. */
bool drng_params_get_utf8_string(const OSSL_PARAM params[], const char *key, const char **text, size_t *len);

#endif
