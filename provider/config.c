#include "provider/config.h"

#include <stddef.h>
#include <string.h>

#include <openssl/params.h>

#include "provider/observe/messages.h"

enum { MAX_VALUES = 3 };

/* A key and its values, the default first; a value's place is what it means. */
struct key {
    const char *name;
    const char *values[MAX_VALUES];
    const char *allowed; /* the same, for a reader */
};

enum { SOURCE, FALLBACK, OS_MIXING, REQUEST_MIXING, CONDITIONER, KEYS };

static const struct key keys[KEYS] = {
    [SOURCE] = {"source", {"auto", "rdseed", "rdrand"}, "auto, rdseed or rdrand"},
    [FALLBACK] = {"fallback", {"yes", "no"}, "yes or no"},
    [OS_MIXING] = {"os_mixing", {"yes", "no"}, "yes or no"},
    [REQUEST_MIXING] = {"request_mixing", {"auto", "yes", "no"}, "auto, yes or no"},
    [CONDITIONER] = {"conditioner", {"cbc-mac", "hmac-sha256"}, "cbc-mac or hmac-sha256"},
};

static const enum drng_choice choices[] = {DRNG_CHOICE_AUTO, DRNG_CHOICE_RDSEED, DRNG_CHOICE_RDRAND};
static const enum drng_tristate tristates[] = {DRNG_AUTO, DRNG_YES, DRNG_NO};
static const enum drng_conditioner_kind conditioners[] = {DRNG_CBC_MAC, DRNG_HMAC_SHA256};

/* The place of the value among those allowed, 0 where the key is not set, or -1. */
static int place_of(const struct key *key, const char *value)
{
    if (value == NULL) {
        return 0;
    }
    for (int i = 0; i < MAX_VALUES && key->values[i] != NULL; i++) {
        if (strcmp(value, key->values[i]) == 0) {
            return i;
        }
    }
    return -1;
}

bool drng_config_read(struct drng_config *config, const struct drng_core *core)
{
    char *value[KEYS] = {NULL};
    OSSL_PARAM params[KEYS + 1];
    int place[KEYS];

    for (int i = 0; i < KEYS; i++) {
        params[i] = (OSSL_PARAM)OSSL_PARAM_utf8_ptr(keys[i].name, &value[i], 0);
    }
    params[KEYS] = (OSSL_PARAM)OSSL_PARAM_END;
    if (core->get_params == NULL || !core->get_params(core->handle, params)) {
        memset(value, 0, sizeof(value));
    }
    for (int i = 0; i < KEYS; i++) {
        place[i] = place_of(&keys[i], value[i]);
        if (place[i] < 0) {
            drng_raise_and_log(core, DRNG_R_CONFIG_VALUE, "%s = %s: write %s in the provider's section of openssl.cnf",
                               keys[i].name, value[i], keys[i].allowed);
            return false;
        }
    }
    *config = (struct drng_config){
        .source = choices[place[SOURCE]],
        .fallback = place[FALLBACK] == 0,
        .os_mixing = place[OS_MIXING] == 0,
        .request_mixing = tristates[place[REQUEST_MIXING]],
        .conditioner = conditioners[place[CONDITIONER]],
    };
    return true;
}
