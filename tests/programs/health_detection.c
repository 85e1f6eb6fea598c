/*
 * How often the health tests find each fault: trial after trial on the tests of the product, with words of the scripted
 * CPU. scripts/evidence/detection.py computes the same, compares, and puts both into docs/entropy-assessment.md.
 *
 * A line for each fault and lane: in how many trials the start-up tests found a fault that was there from the first
 * word on, then in how many the continuous tests found one that began in use, in its first words, as many as
 * the arguments say: health_detection TRIALS WORDS...
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mixing/entropy/health.h"
#include "tests/scripted/cpu.h"

enum { LANES = 8, PERIODS = 4 };

static unsigned strength; /* of the fault under test: bits of entropy that a byte has left, or that of a bias */

/* Byte number `which` has 2^strength values: so many bits of it, again and again, so that each of its bits changes. */
static bool byte_of_few(struct scripted_instruction *in, uint64_t *word)
{
    (void)scripted_good(in, word);
    const unsigned shift = 8 * in->which;
    const uint64_t bits = *word >> shift & ((UINT64_C(1) << strength) - 1);
    uint64_t value = 0;
    for (unsigned i = 0; i < 8 && strength > 0; i += strength) {
        value |= bits << i;
    }
    *word = (*word & ~(UINT64_C(0xff) << shift)) | (value & 0xff) << shift;
    return true;
}

static const struct fault {
    const char *name;
    scripted_behaviour *behaviour;
    unsigned strength;
    unsigned step; /* of `which`, from lane to lane; 0: it is not of one lane */
} faults[] = {
    {"none", scripted_good, 0, 0},
    {"zeros", scripted_zeros, 0, 0},
    {"ones", scripted_ones, 0, 0},
    {"constant", scripted_constant, 0, 0},
    {"alternating", scripted_alternating, 0, 0},
    {"period", scripted_period_64, 0, 0},
    {"counting", scripted_counting, 0, 0},
    {"bias", scripted_biased, 2, 0},
    {"bias", scripted_biased, 3, 0},
    {"bias", scripted_biased, 4, 0},
    {"bit", scripted_bit_at_0, 0, 8},
    {"bit", scripted_bit_at_1, 0, 8},
    {"byte", byte_of_few, 0, 1},
    {"byte", byte_of_few, 1, 1},
    {"byte", byte_of_few, 2, 1},
    {"byte", byte_of_few, 3, 1},
    {"byte", byte_of_few, 4, 1},
    {"byte", byte_of_few, 5, 1},
};

static struct scripted_instruction cpu;

/* Another sequence for each trial. */
static void begin(const struct fault *fault, unsigned lane, unsigned trial)
{
    strength = fault->strength;
    cpu = (struct scripted_instruction){.which = fault->step > 0 ? lane * fault->step : fault->strength,
                                        .state = UINT64_C(0x9e3779b97f4a7c15) * trial * trial + lane};
}

static uint64_t next(scripted_behaviour *behaviour)
{
    uint64_t word = 0;
    (void)behaviour(&cpu, &word);
    cpu.words++;
    return word;
}

static bool found_at_startup(const struct fault *fault)
{
    struct drng_health health = {.failed = DRNG_TEST_NONE};
    struct drng_startup startup = {.words = 0};
    while (startup.words < DRNG_STARTUP_WORDS) {
        const uint64_t word = next(fault->behaviour);
        if (!drng_health_passes(&health, word) || !drng_startup_passes(&startup, word, &health.failed)) {
            return true;
        }
    }
    return false;
}

/* With which of its words; 0: with none of so many. The fault begins anywhere in the windows of the tests. */
static uint64_t found_in_use(const struct fault *fault, unsigned trial, uint64_t words)
{
    struct drng_health health = {.failed = DRNG_TEST_NONE};
    for (unsigned before = DRNG_APT_WINDOW + trial % DRNG_APT_WINDOW; before > 0; before--) {
        (void)drng_health_passes(&health, next(scripted_good));
    }
    cpu.words = 0;
    for (uint64_t i = 1; i <= words; i++) {
        if (!drng_health_passes(&health, next(fault->behaviour))) {
            return i;
        }
    }
    return 0;
}

static void try_fault(const struct fault *fault, unsigned lane, unsigned trials, const uint64_t *periods, size_t count)
{
    unsigned at_startup = 0;
    unsigned in_use[PERIODS] = {0};
    for (unsigned trial = 1; trial <= trials; trial++) {
        begin(fault, lane, trial);
        at_startup += found_at_startup(fault);
        begin(fault, lane, trial);
        const uint64_t word = found_in_use(fault, trial, periods[count - 1]);
        for (size_t i = 0; i < count; i++) {
            in_use[i] += word != 0 && word <= periods[i];
        }
    }
    (void)printf("%s %u %u %u", fault->name, fault->strength, lane, at_startup);
    for (size_t i = 0; i < count; i++) {
        (void)printf(" %u", in_use[i]);
    }
    (void)printf("\n");
}

int main(int argc, char **argv)
{
    uint64_t periods[PERIODS];
    const size_t count = argc > 2 ? (size_t)argc - 2 : 0;
    if (count == 0 || count > PERIODS) {
        (void)fprintf(stderr, "usage: health_detection TRIALS WORDS..., up to %d of them, from few to many\n", PERIODS);
        return 2;
    }
    const unsigned trials = (unsigned)strtoul(argv[1], NULL, 10);
    for (size_t i = 0; i < count; i++) {
        periods[i] = strtoull(argv[i + 2], NULL, 10);
    }
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        for (unsigned lane = 0; lane < (faults[i].step > 0 ? LANES : 1); lane++) {
            try_fault(&faults[i], lane, trials, periods, count);
        }
    }
    return EXIT_SUCCESS;
}
