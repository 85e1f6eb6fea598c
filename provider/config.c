/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the keys of the provider's section; an unknown value is an error that names what is allowed. */

#include "provider/config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <openssl/params.h>

#include "mixing/drbg/generator.h"
#include "provider/errors.h"

enum { MAX_VALUES = DRNG_INSTRUCTIONS < 2 ? 3 : 1 + DRNG_INSTRUCTIONS, ALLOWED_SIZE = 64 };

/* A key and its allowed values, the default first, and NULL. */
struct key {
    const char *name;
    const char *values[MAX_VALUES + 1];
};

enum { SOURCE, FALLBACK, OS_MIXING, REQUEST_MIXING, CONDITIONER, RESEED_BYTES, RDSEED_WORDS, KEYS };

static const struct key keys[KEYS] = {
    [SOURCE] = {"source", {"auto", DRNG_EACH_INSTRUCTION(DRNG_INSTRUCTION_FLAG)}}, /* in the order of the rows */
    [FALLBACK] = {"fallback", {"yes", "no"}},
    [OS_MIXING] = {"os_mixing", {"yes", "no"}},
    [REQUEST_MIXING] = {"request_mixing", {"auto", "yes", "no"}},
    [CONDITIONER] = {"conditioner", {"cbc-mac", "hmac-sha256"}},
    [RESEED_BYTES] = {"reseed_bytes", {"0", "a number from 1024 to 4294967295"}}, /* DRNG_LEAST_RESEED_BYTES */
    [RDSEED_WORDS] = {"rdseed_words", {"8", "an even number from 8 to 2048"}},    /* DRNG_MOST_RDSEED_WORDS */
};

/* The index of the value among the allowed ones; 0 if the key is not set; -1 if the value is not allowed. */
static int place_of(const struct key *key, const char *value)
{
    if (value == NULL) {
        return 0;
    }
    for (int i = 0; key->values[i] != NULL; i++) {
        if (strcmp(value, key->values[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* The number of a key whose values are numbers; -1 if it is none that is allowed. */
static int64_t number_of(int key, const char *value)
{
    const char *digits = value != NULL ? value : keys[key].values[0];
    int64_t number = 0;
    size_t len = 0;
    for (; digits[len] >= '0' && digits[len] <= '9' && number <= UINT32_MAX; len++) {
        number = 10 * number + (digits[len] - '0');
    }
    const bool allowed = key == RESEED_BYTES
                             ? number == 0 || (number >= DRNG_LEAST_RESEED_BYTES && number <= UINT32_MAX)
                             : number >= DRNG_RDSEED_WORDS && number <= DRNG_MOST_RDSEED_WORDS && number % 2 == 0;
    return len > 0 && digits[len] == '\0' && allowed ? number : -1;
}

/* Writes "auto, yes or no". */
static void list_allowed(const struct key *key, char text[ALLOWED_SIZE])
{
    size_t len = 0;
    for (int i = 0; key->values[i] != NULL && len < ALLOWED_SIZE; i++) {
        const char *before = i == 0 ? "" : key->values[i + 1] != NULL ? ", " : " or ";
        len += (size_t)snprintf(text + len, ALLOWED_SIZE - len, "%s%s", before, key->values[i]);
    }
}

bool drng_config_read(struct drng_config *config, const struct drng_core *core)
{
    char *value[KEYS] = {NULL};
    OSSL_PARAM params[KEYS + 1];
    int64_t place[KEYS]; /* or its number */

    for (int i = 0; i < KEYS; i++) {
        params[i] = (OSSL_PARAM)OSSL_PARAM_utf8_ptr(keys[i].name, &value[i], 0);
    }
    params[KEYS] = (OSSL_PARAM)OSSL_PARAM_END;
    if (core->get_params == NULL || !core->get_params(core->handle, params)) {
        drng_raise(core, DRNG_R_CORE, "libcrypto does not hand over the provider's section of openssl.cnf");
        return false;
    }
    for (int i = 0; i < KEYS; i++) {
        place[i] = i < RESEED_BYTES ? place_of(&keys[i], value[i]) : number_of(i, value[i]);
        if (place[i] < 0) {
            char allowed[ALLOWED_SIZE];
            list_allowed(&keys[i], allowed);
            drng_raise(core, DRNG_R_CONFIG_VALUE, "%s = %s: write %s in the provider's section of openssl.cnf",
                       keys[i].name, value[i], allowed);
            return false;
        }
    }
    *config = (struct drng_config){
        .choice = place[SOURCE] == 0 ? DRNG_CHOICE_AUTO : (int)place[SOURCE] - 1,
        .fallback = place[FALLBACK] == 0,
        .os_mixing = place[OS_MIXING] == 0,
        .request_mixing = (enum drng_tristate)place[REQUEST_MIXING],
        .conditioner = place[CONDITIONER] == 0 ? DRNG_CBC_MAC : DRNG_HMAC_SHA256,
        .reseed_bytes = (uint32_t)place[RESEED_BYTES],
        .rdseed_words = (uint32_t)place[RDSEED_WORDS],
    };
    return true;
}
