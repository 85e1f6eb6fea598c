/* SPDX-License-Identifier: Apache-2.0 */
/* The page that a family of processes shares, in the place of one of the module's own. */

#define _GNU_SOURCE

#include "mixing/state/family.h"

#include <sys/mman.h>
#include <unistd.h>

#include "mixing/machine/os.h"

_Static_assert(sizeof(struct drng_family) <= 4096, "the page of a family is too small");

/* Holds one whole page, whatever address the loader gives the array: so its distance from other data of the module does
 * not change, and the page is found from outside without an address. */
static uint8_t room[2 * DRNG_LARGEST_PAGE];

static struct drng_family own;
struct drng_family *drng_family;

void drng_family_open(void)
{
    if (drng_family != NULL) {
        return;
    }
    const size_t page = drng_page_size();
    void *shared = page <= DRNG_LARGEST_PAGE ? mmap(drng_page_start(room), page, PROT_READ | PROT_WRITE,
                                                    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
                                             : MAP_FAILED;
    drng_family = shared != MAP_FAILED ? shared : &own;
    atomic_store(&drng_family->id, drng_os_clock_ns() ^ (uint64_t)getpid() << 40);
}
