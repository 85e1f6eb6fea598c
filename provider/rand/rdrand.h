/*
 * rdrand.h - RDRAND, or RNDR on 64-bit Arm, as an EVP_RAND: unconditioned words, for users who want the CPU's generator
 * as the only one. Where the CPU has none (DRNG_HAS_GENERATOR) libcrypto is not offered it.
 */

#ifndef DRNG_RDRAND_H
#define DRNG_RDRAND_H

#include "provider/rand/parent.h"

extern const OSSL_DISPATCH drng_rdrand_functions[];

/* Seeds a child that is one of drng's own. */
drng_parent_fill_fn drng_rdrand_fill;

#endif
