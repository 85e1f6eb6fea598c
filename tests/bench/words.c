/*
 * What eight fresh bytes cost, in nanoseconds of CPU time: by RDRAND, by getrandom() of the C library, and by the
 * system call of that name. Prints "RDRAND getrandom system-call" for each run; scripts/bench/bench_words.py makes the
 * table. getrandom() makes no system call where the kernel has it in the vDSO and the C library knows of it
 * (glibc 2.41).
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mixing/machine/instruction.h"
#include "mixing/machine/rows.h"

enum { CALLS = 2000, RUNS = 101 };

static uint64_t word;

static bool by_rdrand(void)
{
    uint64_t retries = 0;
    const struct drng_instruction_row *row = &drng_instruction_rows[DRNG_RDRAND];
    return drng_try_word(row->read, row->tries, &retries, &word);
}

static bool by_library(void)
{
    return getrandom(&word, sizeof(word), 0) == sizeof(word);
}

static bool by_system_call(void)
{
    return syscall(SYS_getrandom, &word, sizeof(word), 0) == sizeof(word);
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double word_ns(bool (*draw)(void))
{
    const double begun = now_ns();
    for (unsigned i = 0; i < CALLS; i++) {
        if (!draw()) {
            (void)fputs("no word\n", stderr);
            exit(EXIT_FAILURE);
        }
    }
    return (now_ns() - begun) / CALLS;
}

int main(void)
{
    for (unsigned run = 0; run < RUNS; run++) {
        (void)printf("%.1f %.1f %.1f\n", word_ns(by_rdrand), word_ns(by_library), word_ns(by_system_call));
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
