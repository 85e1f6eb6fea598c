/* rdrand.h - RDRAND as an EVP_RAND: its words as they come, for those who want it as the sole generator. */

#ifndef DRNG_RDRAND_H
#define DRNG_RDRAND_H

#include "provider/rand/parent.h"

extern const OSSL_DISPATCH drng_rdrand_functions[];

/* As the parent of one of drng's own. */
drng_parent_fill_fn drng_rdrand_fill;

#endif
