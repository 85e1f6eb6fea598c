/* rdrand.h - RDRAND as an EVP_RAND: its words as they come, for those who want it as the sole generator. */

#ifndef DRNG_RDRAND_H
#define DRNG_RDRAND_H

#include <openssl/core.h>

extern const OSSL_DISPATCH drng_rdrand_functions[];

#endif
