/*
 * seed_buffer.h - the memory of a seed for a generator that is not drng's, from get_seed to clear_seed.
 *
 * drng's own generators take their seeds into their slots.
 */

#ifndef DRNG_SEED_BUFFER_H
#define DRNG_SEED_BUFFER_H

#include <stddef.h>

#include "provider/core.h"

/*
 * Allocates the seed for get_seed, and sets *len to its length: `entropy` bits, but at least min_len bytes. NULL, with
 * an error in the queue: max_len is too small, or there is no memory.
 */
unsigned char *drng_seed_buffer_for(const struct drng_core *core, int entropy, size_t min_len, size_t max_len,
                                    size_t *len);

/* Wipes and frees the buffer. core and len are those of drng_seed_buffer_for(). NULL is allowed. */
void drng_seed_buffer_free(const struct drng_core *core, unsigned char *buffer, size_t len);

#endif
