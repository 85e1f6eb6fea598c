/* linked.h - for benchmarks that have the provider linked in, and call it without libcrypto between. */

#ifndef BENCH_LINKED_H
#define BENCH_LINKED_H

#include "provider/provctx.h"

/* Ends the program with a line on stderr. */
void linked_fail(const char *what);

/* The provider's instance in a library context of its own, which stays. */
struct drng_provctx *linked_load(void);

/* One request of random_bytes. */
void linked_draw(struct drng_provctx *provctx, unsigned char *out, size_t len);

/* CPU time of the calling thread. */
double linked_now_ns(void);

#endif
