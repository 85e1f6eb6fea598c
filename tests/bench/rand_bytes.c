/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAND_bytes() of whichever libcrypto is named, under the environment's openssl.cnf: rand_bytes LIBCRYPTO COUNT SIZE...
 *
 * Prints when the first byte was there, in nanoseconds of the monotonic clock and of the process's CPU time, then for
 * each size the median time of a request, in nanoseconds of CPU time. libcrypto is loaded by name, since the symbols of
 * 3.x and 4.x have different versions. scripts/bench/bench_versions.py makes the tables.
 */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1 << 16, RUNS = 15, SIZES_BEGIN = 3 };

typedef int rand_bytes(unsigned char *out, int len);

static uint8_t out[MOST];

static int64_t now_ns(clockid_t clock)
{
    enum { NS = 1000000000 };
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS + now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* -1: a request failed. */
static double request_ns(rand_bytes *draw, int size, long count)
{
    double runs[RUNS];
    for (size_t run = 0; run < RUNS; run++) {
        const int64_t begun = now_ns(CLOCK_THREAD_CPUTIME_ID);
        for (long i = 0; i < count; i++) {
            if (draw(out, size) != 1) {
                return -1;
            }
        }
        runs[run] = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begun) / (double)count;
    }
    qsort(runs, RUNS, sizeof(*runs), ascending);
    return runs[RUNS / 2];
}

static rand_bytes *find(const char *libcrypto)
{
    rand_bytes *draw = NULL;
    void *library = dlopen(libcrypto, RTLD_NOW);
    void *symbol = library != NULL ? dlsym(library, "RAND_bytes") : NULL;
    memcpy(&draw, &symbol, sizeof(symbol));
    if (draw == NULL) {
        (void)fprintf(stderr, "%s\n", dlerror());
    }
    return draw;
}

int main(int argc, char **argv)
{
    const long count = argc > SIZES_BEGIN ? strtol(argv[2], NULL, 10) : 0;
    if (count <= 0) {
        (void)fprintf(stderr, "usage: rand_bytes LIBCRYPTO COUNT SIZE...\n");
        return 2;
    }
    rand_bytes *draw = find(argv[1]);
    if (draw == NULL || draw(out, 1) != 1) {
        (void)fprintf(stderr, "nothing was drawn\n");
        return 1;
    }
    (void)printf("%lld %lld", (long long)now_ns(CLOCK_MONOTONIC), (long long)now_ns(CLOCK_PROCESS_CPUTIME_ID));
    for (int i = SIZES_BEGIN; i < argc; i++) {
        const long size = strtol(argv[i], NULL, 10);
        const double ns = size > 0 && size <= MOST ? request_ns(draw, (int)size, count) : -1;
        if (ns < 0) {
            (void)fprintf(stderr, "%s bytes: no request of this size was served\n", argv[i]);
            return 1;
        }
        (void)printf(" %.1f", ns);
    }
    (void)printf("\n");
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
