/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes and numbers for who opens no handle: drng_bytes() and drng_uniform(), on one handle of the process. */

#include <stdatomic.h>

#include "library/drng.h"
#include "mixing/machine/wipe.h"

/* Draws of which each is thrown away with a probability below one half. */
enum { MOST_DRAWS = 128 };

/* Made by the first call that can, and never closed: a child goes on with it as with any handle. */
static _Atomic(drng *) shared;

/* Two threads at once make one each, and the one that comes second closes its own. */
static int open_shared(drng **handle)
{
    drng *own = NULL;
    drng *there = NULL;
    const int error = drng_open(&own, DRNG_ANY);
    *handle = own;
    if (error == DRNG_SUCCESS && !atomic_compare_exchange_strong(&shared, &there, own)) {
        drng_close(own);
        *handle = there;
    }
    return error;
}

int drng_bytes(void *bytes, size_t len)
{
    drng *handle = atomic_load_explicit(&shared, memory_order_acquire);
    if (len > PTRDIFF_MAX || (bytes == NULL && len > 0)) {
        return DRNG_E_ARGUMENT;
    }
    const int error = handle == NULL ? open_shared(&handle) : DRNG_SUCCESS;
    if (error != DRNG_SUCCESS) {
        drng_wipe(bytes, len);
        return error;
    }
    return drng_read(handle, bytes, len);
}

/* What lies below 2^64 mod bound is drawn again: of the rest, each remainder comes as often as the others. */
int drng_uniform(uint64_t *number, uint64_t bound)
{
    int error = DRNG_E_NOT_READY;
    uint64_t drawn = 0;
    if (number == NULL || bound == 0) {
        return DRNG_E_ARGUMENT;
    }
    const uint64_t left_over = -bound % bound;
    for (unsigned i = 0; i < MOST_DRAWS; i++) {
        error = drng_bytes(&drawn, sizeof(drawn));
        if (error != DRNG_SUCCESS || drawn >= left_over) {
            break;
        }
        error = DRNG_E_NOT_READY;
    }
    *number = error == DRNG_SUCCESS ? drawn % bound : 0;
    drng_wipe(&drawn, sizeof(drawn));
    return error;
}
