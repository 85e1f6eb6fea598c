/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_cost.c - what the first draw of a forked child takes, beside the fork itself.
 *
 *     fork_cost ROUNDS
 *
 * A line for each round, in microseconds of CPU time: a fork whose child ends at once, the first draw of a child, and
 * its next one. The parent has drawn before, as a server has that forks for each connection.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <openssl/rand.h>

static double own_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double childrens_us(void)
{
    struct rusage used;
    (void)getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* -1: a draw failed, or no child could be made. */
static double draw_us(void)
{
    unsigned char key[32];
    const double before = own_us();
    return RAND_bytes(key, sizeof(key)) == 1 ? own_us() - before : -1;
}

static double fork_us(double *draws)
{
    int status = -1;
    const double before = own_us() + childrens_us();
    const pid_t child = fork();
    if (child == 0) {
        if (draws != NULL) {
            draws[0] = draw_us();
            draws[1] = draw_us();
        }
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? own_us() + childrens_us() - before : -1;
}

int main(int argc, char **argv)
{
    double *draws = mmap(NULL, 2 * sizeof(*draws), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc != 2 || draws == MAP_FAILED || draw_us() < 0) {
        (void)fprintf(stderr, "usage: fork_cost ROUNDS; and the parent must be able to draw\n");
        return 2;
    }
    for (unsigned long left = strtoul(argv[1], NULL, 10); left > 0; left--) {
        const double alone = fork_us(NULL);
        if (alone < 0 || fork_us(draws) < 0 || draws[0] < 0 || draws[1] < 0) {
            return 1;
        }
        (void)printf("%.2f %.2f %.2f\n", alone, draws[0], draws[1]);
    }
    return 0;
}
