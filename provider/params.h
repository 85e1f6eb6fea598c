/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h - reads and answers OSSL_PARAM(3) arrays.
 *
 * Replaces libcrypto's OSSL_PARAM_get_*() and OSSL_PARAM_set_*(), which the module cannot call, since it is linked to
 * no libcrypto. The results are those of OpenSSL 3.0; later versions set return_size differently on failure. An array
 * is NULL or ends with a NULL key. If a key occurs twice, the first entry counts. Numbers are integers of four or eight
 * bytes, signed or not, as libcrypto and its callers send them; there are no doubles and no BIGNUMs.
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/core.h>

/*
 * A parameter that can be read, and its value now: a text where `known` has the type of a UTF-8 string or pointer,
 * else a number. Texts are constant, and never NULL.
 */
struct drng_answer {
    OSSL_PARAM known; /* its name and its type, as the tables of gettable parameters have them */
    uint64_t number;  /* above INT64_MAX: INT64_MAX is told */
    const char *text;
};

/*
 * A list of such parameters is a macro, LIST(NUMBER, TEXT), that has a row for each: NUMBER(known, value) or
 * TEXT(known, value). LIST(DRNG_KNOWN, DRNG_KNOWN) is the table of gettable parameters, LIST(DRNG_NUMBER, DRNG_TEXT)
 * the answers.
 */
#define DRNG_KNOWN(known, value) known,
// NOLINTBEGIN(bugprone-macro-parentheses): they are initializers
#define DRNG_NUMBER(is_known, value)     {.known = is_known, .number = (uint64_t)(value)},
#define DRNG_TEXT(is_known, is_constant) {.known = is_known, .text = (is_constant)},
// NOLINTEND(bugprone-macro-parentheses)

/*
 * Sets each entry of params that has an answer. If an entry's data is NULL, only its return_size is set. A text is
 * copied into a UTF-8 string, with a NUL if there is room, which return_size does not count; of a UTF-8 pointer the
 * pointer is set. False if a value does not fit or the entry has another type: its data is unchanged, and return_size
 * is the size of the value, or 0 if none would do.
 */
bool drng_params_answer(OSSL_PARAM params[], const struct drng_answer answers[], size_t count);

/*
 * Reads the entry of this key into *value; without such an entry *value stays. False: the entry has no data or another
 * type or size, or is less than `least` or more than `most`.
 */
bool drng_params_get_number(const OSSL_PARAM params[], const char *key, int64_t least, int64_t most, int64_t *value);

/* The same. *text points into the caller's data, and has *len bytes: up to a NUL, or to the end of the data. */
bool drng_params_get_utf8_string(const OSSL_PARAM params[], const char *key, const char **text, size_t *len);
