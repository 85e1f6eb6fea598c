/* SPDX-License-Identifier: Apache-2.0 */
/* crates.h - peers of the benchmark that come as Rust crates; scripts/bench/bench-peers.sh builds them. */

#ifndef DRNG_BENCH_CRATES_H
#define DRNG_BENCH_CRATES_H

#include "tests/bench/peers.h"

enum { BENCH_MAX_CRATES = 4 };

/* Those that have been built, and how many they are. False: what was built does not load, with a line on stderr. */
bool bench_crates(struct bench_peer peers[BENCH_MAX_CRATES], size_t *count);

#endif
