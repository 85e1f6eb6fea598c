/* Linux, and other systems that have getrandom(). */

#include <sys/random.h>
#include <time.h>

#include "mixing/machine/os.h"
#include "mixing/memory/cancel.h"
#include "mixing/memory/wipe.h"

/* Requests of up to 256 bytes are served in full or not at all: random(7). */
bool drng_os_random(uint8_t *out, size_t len)
{
    const struct drng_cancel cancel = drng_cancel_disable();
    const bool whole = getrandom(out, len, GRND_NONBLOCK) == (ssize_t)len;
    drng_cancel_restore(cancel);
    if (!whole) {
        drng_wipe(out, len);
    }
    return whole;
}

uint64_t drng_os_clock_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
