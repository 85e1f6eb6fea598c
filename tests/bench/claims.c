/*
 * What a seed of 384 bits costs with the words of RDSEED counted by design, and by the rate of each maker's
 * certificates, whoever made this CPU: in nanoseconds, in turns. Prints a line of ways first, "design:8 Intel:8
 * AMD:588", then the times of each run, or "-" where another source had to serve; scripts/bench/bench_claims.py makes
 * the table.
 */

#include <stdio.h>
#include <stdlib.h>

#include "mixing/drbg/self_test.h"
#include "mixing/entropy/seed.h"
#include "mixing/memory/wipe.h"
#include "tests/bench/linked.h"

enum { SEED_LEN = 48, RUNS = 101, MOST_WAYS = 8, SEEDS_OF_A_RUN = 4 };

static struct drng_counters counters;
static struct drng_instruction seeding;
static struct drng_seed_policy policy = {.os_mixing = true, .counters = &counters};
static struct drng_seed_reader reader;

static const struct drng_claim *ways[MOST_WAYS]; /* NULL: by design */
static unsigned way_count;

/* A maker's certificates stand in a row, and have one rate. */
static bool is_another_rate(const struct drng_claim *claim)
{
    const struct drng_claim *last = ways[way_count - 1];
    return last == NULL || last->certified_millibits != claim->certified_millibits;
}

static void find_ways(void)
{
    ways[way_count++] = NULL;
    for (const struct drng_claim *claim = drng_claims; claim->maker != NULL && way_count < MOST_WAYS; claim++) {
        if (claim->instruction == 0 && drng_claim_window_words(claim) > 0 && is_another_rate(claim)) {
            ways[way_count++] = claim;
        }
    }
}

static void print_ways(void)
{
    for (unsigned i = 0; i < way_count; i++) {
        const size_t words = i == 0 ? drng_instruction_rows[0].window_words : drng_claim_window_words(ways[i]);
        (void)printf("%s%s:%zu", i == 0 ? "" : " ", i == 0 ? "design" : ways[i]->maker, words);
    }
    (void)printf("\n");
}

/* The mean of some seeds; below 0 if one did not come of the instruction. */
static double seed_ns(const struct drng_claim *certified)
{
    uint8_t seed[SEED_LEN];
    bool got = true;
    policy.certified[0] = certified;
    const double begun = linked_now_ns();
    for (unsigned i = 0; i < SEEDS_OF_A_RUN; i++) {
        got = drng_seed_get(&policy, &reader, seed, sizeof(seed)) == DRNG_OK && got;
    }
    const double taken = linked_now_ns() - begun;
    drng_wipe(seed, sizeof(seed));
    return got ? taken / SEEDS_OF_A_RUN : -1;
}

int main(void)
{
    const char *what = NULL;
    struct drng_cpu cpu;
    drng_cpu_identify(&cpu);
    if (!cpu.has[0]) {
        linked_fail("this CPU has no seed-grade instruction");
    }
    policy.aes = drng_self_test_choose(&cpu, &what);
    seeding = (struct drng_instruction){.row = &drng_instruction_rows[0], .counters = &counters.instructions[0]};
    policy.instructions[0] = &seeding;
    find_ways();
    print_ways();
    (void)seed_ns(NULL); /* the start-up tests */
    for (unsigned run = 0; run < RUNS; run++) {
        for (unsigned i = 0; i < way_count; i++) {
            const double ns = seed_ns(ways[i]);
            (void)(ns < 0 ? printf("- ") : printf("%.0f ", ns));
        }
        (void)printf("\n");
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
