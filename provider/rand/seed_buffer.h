/*
 * seed_buffer.h - the memory in which a seed goes to a generator that is not drng's, from get_seed to clear_seed.
 *
 * drng's own generators take their seeds into their slots.
 */

#ifndef DRNG_SEED_BUFFER_H
#define DRNG_SEED_BUFFER_H

#include <stddef.h>

#include "provider/core.h"

/*
 * What get_seed is to give: entropy in bits, but at least min_len bytes; that length is put into *len. NULL, and an
 * error, where max_len has no room for it or there is no memory.
 */
unsigned char *drng_seed_buffer_for(const struct drng_core *core, int entropy, size_t min_len, size_t max_len,
                                    size_t *len);

/* Wipes and frees; core and len are those that it was made with. NULL is nothing. */
void drng_seed_buffer_free(const struct drng_core *core, unsigned char *buffer, size_t len);

#endif
