/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the provider's own section of openssl.cnf; see drng.cnf(5). */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/machine/eligibility.h"
#include "provider/core.h"

enum drng_tristate { DRNG_AUTO, DRNG_YES, DRNG_NO }; /* in the order of the values in config.c */

struct drng_config {
    int choice; /* the key `source`: the index of an instruction, or DRNG_CHOICE_AUTO */
    bool fallback;
    bool os_mixing;
    enum drng_tristate request_mixing;
    enum drng_conditioner_kind conditioner;
    uint32_t reseed_bytes; /* 0: no limit */
    uint32_t rdseed_words; /* of RDSEED for each block of seed */
};

/*
 * Reads the keys from the core. A key that is not set has its default. False, with an error that names the key,
 * its value and the allowed values, if a value is not allowed.
 */
bool drng_config_read(struct drng_config *config, const struct drng_core *core);
