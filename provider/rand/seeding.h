/*
 * seeding.h - takes seeds from the provider's own source, counts and reports them, and raises an error if there is
 * none.
 */

#ifndef DRNG_SEEDING_H
#define DRNG_SEEDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provider/provctx.h"

/* bytes of a seed that share one time budget: at most four windows of RDRAND */
enum { DRNG_SEED_PIECE = 64 };

/*
 * Fills out[0..len) with conditioned seed under `policy`, in pieces of DRNG_SEED_PIECE. On failure out is all zero, and
 * an error is in the queue. If threads share the reader, the caller holds its lock.
 */
bool drng_seeding_fill(struct drng_provctx *provctx, const struct drng_seed_policy *policy,
                       struct drng_shared_reader *shared, uint8_t *out, size_t len);

/* The same, from the reader that all generators without a parent share, under its lock. */
bool drng_seeding_fill_from_root(struct drng_provctx *provctx, uint8_t *out, size_t len);

/* The same, for a signal handler: from a reader on the stack, without a lock and without a report. */
bool drng_seeding_fill_apart(struct drng_provctx *provctx, uint8_t *out, size_t len);

#endif
