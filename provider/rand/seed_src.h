/* seed_src.h - DRNG-SEED, alias SEED-SRC: the conditioned instructions as an EVP_RAND (see provider-rand(7)). */

#ifndef DRNG_SEED_SRC_H
#define DRNG_SEED_SRC_H

#include "provider/rand/parent.h"

extern const OSSL_DISPATCH drng_seed_src_functions[];

/* Seeds a child that is one of drng's own. */
drng_parent_fill_fn drng_seed_src_fill;

#endif
