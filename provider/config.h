/* config.h - the provider's own section of openssl.cnf; see drng.cnf(5). */

#ifndef DRNG_CONFIG_H
#define DRNG_CONFIG_H

#include <stdbool.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/machine/eligibility.h"
#include "provider/core.h"

enum drng_tristate { DRNG_AUTO, DRNG_YES, DRNG_NO };

struct drng_config {
    int source; /* the place of an instruction's row, or DRNG_CHOICE_AUTO */
    bool fallback;
    bool os_mixing;
    enum drng_tristate request_mixing;
    enum drng_conditioner_kind conditioner;
};

/*
 * Reads the five keys from the core; a key that is not there has its default. False, with an error that names
 * key, value and what is allowed, for any other value.
 */
bool drng_config_read(struct drng_config *config, const struct drng_core *core);

#endif
