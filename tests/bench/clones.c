/*
 * What protection from copies of the machine costs a request, in nanoseconds of CPU time: none, a clock device that is
 * watched, a word of RDRAND, and the kernel's bytes with the time. Prints "none counter instruction kernel" for each
 * run, for the length that is its argument; scripts/bench/bench_clones.py makes the table.
 */

#include <stdio.h>
#include <stdlib.h>

#include "mixing/machine/clone.h"
#include "tests/bench/linked.h"
#include "tests/process/device.h"

enum { MOST = 65536, RUNS = 51 };

/* Calls of one run: about as many bytes for each length. */
static unsigned calls;
static size_t len;

static struct drng_provctx *load(enum drng_request_mixing mixing)
{
    struct drng_provctx *provctx = linked_load();
    provctx->mixing = mixing;
    return provctx;
}

static double request_ns(struct drng_provctx *provctx)
{
    static unsigned char out[MOST];
    const double begun = linked_now_ns();
    for (unsigned i = 0; i < calls; i++) {
        linked_draw(provctx, out, len);
    }
    return (linked_now_ns() - begun) / calls;
}

/* The device is plugged in for this alone: while it is watched, requests take no words. */
static double watched_ns(struct drng_provctx *provctx)
{
    drng_clone_open();
    if (!drng_clone_is_watched()) {
        linked_fail("the device is not watched");
    }
    const double ns = request_ns(provctx);
    drng_clone_close();
    return ns;
}

int main(int argc, char **argv)
{
    len = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (len == 0 || len > MOST) {
        linked_fail("usage: clones LENGTH");
    }
    calls = (unsigned)(len < 1024 ? 2000 : (size_t)2000 * 1024 / len);
    struct drng_provctx *none = load(DRNG_MIX_NEVER);
    struct drng_provctx *mixing = load(DRNG_MIX_UNWATCHED);
    struct drng_provctx *kernel = load(DRNG_MIX_UNWATCHED);
    if (!device_plug_in() || mixing->words.instructions[0] == NULL) {
        linked_fail("this CPU gives no words, or there is no memory");
    }
    kernel->words.instructions[0] = NULL;
    for (unsigned run = 0; run < RUNS; run++) {
        (void)printf("%.1f %.1f %.1f %.1f\n", request_ns(none), watched_ns(mixing), request_ns(mixing),
                     request_ns(kernel));
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
