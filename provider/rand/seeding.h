/* seeding.h - seeds from the provider's own source, for all who need one: counted, reported, and raised if there is
 * none. */

#ifndef DRNG_SEEDING_H
#define DRNG_SEEDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provider/provctx.h"

/* Bytes that have a time budget of their own: at most four windows of RDRAND. */
enum { DRNG_SEED_PIECE = 64 };

/*
 * Fills out[0..len) with conditioned seed under `policy`, in pieces. On failure out is all zero and the error is in the
 * queue. Whoever calls holds the reader's lock, if threads share it.
 */
bool drng_seeding_fill(struct drng_provctx *provctx, const struct drng_seed_policy *policy,
                       struct drng_shared_reader *shared, uint8_t *out, size_t len);

/* The same from the reader that all generators without a parent share, under its lock. */
bool drng_seeding_fill_from_root(struct drng_provctx *provctx, uint8_t *out, size_t len);

/* The same from a reader on the stack, under no lock and with no report: for a signal handler. */
bool drng_seeding_fill_apart(struct drng_provctx *provctx, uint8_t *out, size_t len);

#endif
