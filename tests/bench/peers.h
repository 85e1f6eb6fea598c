/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All peers that exist on this machine. Each peer through libcrypto has drawn from the generator that it is named
 * after; otherwise this returns 0, with a line on stderr. To be called once.
 */

#ifndef DRNG_BENCH_WAYS_H
#define DRNG_BENCH_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One peer fills out[0..len); false: it failed. */
struct bench_peer {
    const char *name; /* "drng" */
    bool (*fill)(const void *arg, uint8_t *out, size_t len);
    const void *arg;
};

enum { BENCH_MAX_PEERS = 32 };

/*
 * Every peer that there is on this machine. Those through libcrypto have drawn from the generator that they are
 * named after, or this returns 0 with a line on stderr. To be called once.
 */
size_t bench_peers(struct bench_peer peers[BENCH_MAX_PEERS]);

/* The implementation of AES that drng runs on here. */
const char *bench_aes_name(void);

#ifdef __cplusplus
}
#endif

#endif
