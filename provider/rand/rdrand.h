/* rdrand.h - RDRAND as an EVP_RAND: unconditioned words, for users who want RDRAND as the only generator. */

#ifndef DRNG_RDRAND_H
#define DRNG_RDRAND_H

#include "provider/rand/parent.h"

extern const OSSL_DISPATCH drng_rdrand_functions[];

/* Seeds a child that is one of drng's own. */
drng_parent_fill_fn drng_rdrand_fill;

#endif
