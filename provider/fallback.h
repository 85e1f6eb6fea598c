/* fallback.h - OpenSSL's default seed source, called through the core. */

#ifndef DRNG_FALLBACK_H
#define DRNG_FALLBACK_H

#include "mixing/entropy/seed.h"

struct drng_core;

/* Whether the core offers the default seed source. */
bool drng_has_default_seed_source(const struct drng_core *core);

/* arg is the struct drng_core. */
drng_fallback drng_default_seed_source;

#endif
