/*
 * What a call of random_bytes costs while N threads live that have drawn, in nanoseconds of CPU time: under one library
 * context, under two in turn, under two in turn of which a thread remembers only one, and the first call of one more
 * thread. Prints "N one two forgotten first", the medians, and the bytes of memory that a thread takes under one of its
 * contexts by having drawn; scripts/bench/bench_threads.py makes the table.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/linked.h"

/* A thread remembers its generators under two contexts; the first and the last of three share a place. */
enum { CONTEXTS = 3, LAST = CONTEXTS - 1, DRAWN_FROM = 3, LEN = 16, CALLS = 2000, RUNS = 31 };
enum { STACK = 1 << 16, PAGE = 4096 };

static struct drng_provctx *provctx[CONTEXTS];
static pthread_barrier_t started;
static pthread_barrier_t looked;
static pthread_barrier_t drawn;
static pthread_barrier_t measured;

static void draw(struct drng_provctx *from)
{
    unsigned char out[LEN];
    linked_draw(from, out, sizeof(out));
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), ascending);
    return values[count / 2];
}

/* A call, where every other one goes to the other context. */
static double call_ns(struct drng_provctx *one, struct drng_provctx *other)
{
    double runs[RUNS];
    for (size_t run = 0; run < RUNS; run++) {
        const double begun = linked_now_ns();
        for (unsigned i = 0; i < CALLS; i += 2) {
            draw(one);
            draw(other);
        }
        runs[run] = (linked_now_ns() - begun) / CALLS;
    }
    return median(runs, RUNS);
}

static void draw_from_three(void)
{
    draw(provctx[0]);
    draw(provctx[1]);
    draw(provctx[LAST]);
}

/* Its stack has pages before the look, as deep as a draw goes. */
static void *draw_and_live(void *unused)
{
    volatile unsigned char stack[STACK / 4];
    for (size_t i = 0; i < sizeof(stack); i += PAGE) {
        stack[i] = 1;
    }
    (void)pthread_barrier_wait(&started);
    (void)pthread_barrier_wait(&looked);
    draw_from_three();
    (void)pthread_barrier_wait(&drawn);
    (void)pthread_barrier_wait(&measured);
    return unused;
}

static void *time_first_draw(void *ns)
{
    const double begun = linked_now_ns();
    draw(provctx[0]);
    *(double *)ns = linked_now_ns() - begun;
    return NULL;
}

static pthread_t start_thread(void *(*work)(void *), void *arg)
{
    pthread_t thread;
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    if (pthread_create(&thread, &attributes, work, arg) != 0) {
        linked_fail("no more threads");
    }
    (void)pthread_attr_destroy(&attributes);
    return thread;
}

static double first_ns(void)
{
    double runs[RUNS];
    for (size_t run = 0; run < RUNS; run++) {
        (void)pthread_join(start_thread(time_first_draw, &runs[run]), NULL);
    }
    return median(runs, RUNS);
}

static double resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm == NULL || fscanf(statm, "%*u %lu", &pages) != 1 || fclose(statm) != 0) {
        linked_fail("/proc/self/statm cannot be read");
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    const unsigned threads = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (threads == 0) {
        linked_fail("usage: threads N");
    }
    for (size_t i = 0; i < CONTEXTS; i++) {
        provctx[i] = linked_load();
    }
    /* This thread is one of them. */
    (void)pthread_barrier_init(&started, NULL, threads);
    (void)pthread_barrier_init(&looked, NULL, threads);
    (void)pthread_barrier_init(&drawn, NULL, threads);
    (void)pthread_barrier_init(&measured, NULL, threads);
    for (unsigned i = 1; i < threads; i++) {
        (void)pthread_detach(start_thread(draw_and_live, NULL));
    }
    (void)pthread_barrier_wait(&started);
    const double before = resident_bytes();
    (void)pthread_barrier_wait(&looked);
    draw_from_three();
    (void)pthread_barrier_wait(&drawn);
    const double memory = (resident_bytes() - before) / threads / DRAWN_FROM;
    (void)printf("%u %.0f %.0f %.0f %.0f %.0f\n", threads, call_ns(provctx[0], provctx[0]),
                 call_ns(provctx[0], provctx[1]), call_ns(provctx[0], provctx[LAST]), first_ns(), memory);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
