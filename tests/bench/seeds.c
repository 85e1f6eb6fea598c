#include <immintrin.h>

#include "mixing/drbg/self_test.h"
#include "mixing/entropy/seed.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instructions_x86.h"
#include "mixing/memory/wipe.h"
#include "tests/bench/peers.h"

enum {
    SEED_LEN = 48, /* bytes: 384 bits, what a CTR_DRBG with AES-256 asks for */
    BLOCKS = SEED_LEN / DRNG_CONDITIONED_LEN,
    RDRAND_EXECUTIONS = BLOCKS * DRNG_RDRAND_WORDS,
    RDSEED_EXECUTIONS = BLOCKS * DRNG_RDSEED_WORDS,
};

/* ---- As drng makes them, kernel bytes included ---- */

static struct drng_counters counters;
static struct drng_instruction rdrand = {.row = &drng_instruction_rows[DRNG_RDRAND],
                                         .counters = &counters.instructions[DRNG_RDRAND]};
static struct drng_instruction rdseed = {.row = &drng_instruction_rows[DRNG_RDSEED],
                                         .counters = &counters.instructions[DRNG_RDSEED]};
static struct drng_seed_policy policy = {.os_mixing = true, .counters = &counters};
static struct drng_seed_reader reader;

static bool seed_from(struct drng_instruction *for_rdseed, struct drng_instruction *for_rdrand)
{
    uint8_t seed[SEED_LEN];
    policy.instructions[DRNG_RDSEED] = for_rdseed;
    policy.instructions[DRNG_RDRAND] = for_rdrand;
    const bool got = drng_seed_get(&policy, &reader, seed, sizeof(seed)) == DRNG_OK;
    drng_wipe(seed, sizeof(seed));
    return got;
}

static bool seed_from_rdrand(void)
{
    return seed_from(NULL, &rdrand);
}

static bool seed_from_rdseed(void)
{
    return seed_from(&rdseed, NULL);
}

/* ---- The instructions alone ---- */

static bool execute_rdrand(void)
{
    uint64_t word = 0;
    for (unsigned words = 0; words < RDRAND_EXECUTIONS;) {
        words += drng_execute_rdrand(&word);
    }
    return true;
}

/* With the pause between tries that drng makes too: without it they only take longer to succeed. */
static bool execute_rdseed(void)
{
    uint64_t word = 0;
    for (unsigned words = 0; words < RDSEED_EXECUTIONS;) {
        if (drng_execute_rdseed(&word)) {
            words++;
        } else {
            _mm_pause();
        }
    }
    return true;
}

size_t bench_seeds(struct bench_seed seeds[BENCH_MAX_SEEDS])
{
    const char *what = NULL;
    struct drng_cpu cpu;
    size_t count = 0;
    drng_cpu_identify(&cpu);
    policy.aes = drng_self_test_choose(&cpu, &what);
    if (policy.aes == NULL) {
        return 0;
    }
    if (cpu.has[DRNG_RDRAND]) {
        seeds[count++] = (struct bench_seed){"rdrand", RDRAND_EXECUTIONS, seed_from_rdrand, execute_rdrand};
    }
    if (cpu.has[DRNG_RDSEED]) {
        seeds[count++] = (struct bench_seed){"rdseed", RDSEED_EXECUTIONS, seed_from_rdseed, execute_rdseed};
    }
    return count;
}
