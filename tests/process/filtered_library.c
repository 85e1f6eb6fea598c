/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded by hand, so that what is limited before it loads is limited. */

#include "tests/process/filtered.h"

#include <dlfcn.h>
#include <drng.h>
#include <stddef.h>

static int (*open_handle)(drng **, enum drng_choice);
static int (*read_bytes)(drng *, void *, size_t);
static int (*reseed)(drng *);
static void (*close_handle)(drng *);
static _Thread_local drng *handle;

bool filtered_load(void)
{
    void *library = dlopen(DRNG_LIBRARY, RTLD_NOW);
    if (library == NULL) {
        return false;
    }
    *(void **)&open_handle = dlsym(library, "drng_open");
    *(void **)&read_bytes = dlsym(library, "drng_read");
    *(void **)&reseed = dlsym(library, "drng_reseed");
    *(void **)&close_handle = dlsym(library, "drng_close");
    return true;
}

bool filtered_draw(void)
{
    unsigned char out[64];
    return (handle != NULL || open_handle(&handle, DRNG_ANY) == DRNG_SUCCESS) &&
           read_bytes(handle, out, sizeof(out)) == DRNG_SUCCESS && reseed(handle) == DRNG_SUCCESS;
}

bool filtered_draw_anew(void)
{
    unsigned char out[64];
    drng *other = NULL;
    const bool drawn =
        open_handle(&other, DRNG_ANY) == DRNG_SUCCESS && read_bytes(other, out, sizeof(out)) == DRNG_SUCCESS;
    close_handle(other);
    return drawn;
}
