/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/machine.h"
#include "mixing/state/fork.h"
#include "provider/observe/stats.h"

#include "tests/scripted/cpu.h"
#include "tests/scripted/os.h"

static scripted_behaviour *const behaviours[] = {
    scripted_good,       scripted_good,        scripted_zeros,     scripted_ones,
    scripted_constant,   scripted_alternating, scripted_period_64, scripted_counting,
    scripted_dry,        scripted_dry_until,   scripted_dry_from,  scripted_every,
    scripted_mostly_dry, scripted_bad_word,    scripted_bad_words, scripted_single_zero,
};

static void behave(struct scripted_instruction *in, struct fuzz_input *input)
{
    enum { BEHAVIOURS = sizeof(behaviours) / sizeof(*behaviours) };
    /* Slower than life, so that a drought of its whole time is some thousand tries. */
    static const uint64_t times_ns[] = {400, 400, 400, 2000, 50000};
    const uint8_t choice = fuzz_byte(input);
    in->behaviour = behaviours[choice % BEHAVIOURS];
    /* From here on or a while later; of the tries between two words, 0 would be none. */
    in->at = in->behaviour == scripted_every ? 1 + fuzz_byte(input) % 32 : in->words + 1 + 8 * fuzz_byte(input);
    in->ns = times_ns[fuzz_byte(input) % 5];
    if (in->behaviour == scripted_dry_until) {
        in->at += in->executions;
    }
    /* These repeat a word that has been logged. */
    if (in->words == 0 && (in->behaviour == scripted_bad_word || in->behaviour == scripted_bad_words)) {
        in->behaviour = scripted_good;
    }
}

void machine_change(struct fuzz_input *input)
{
    switch (fuzz_byte(input) % 4) {
    case 0:
        scripted_os_ready = !scripted_os_ready;
        break;
    case 1:
        behave(&scripted_rdseed, input);
        break;
    default:
        behave(&scripted_rdrand, input);
        break;
    }
}

void machine_start(struct fuzz_input *input)
{
    const struct drng_counters none = {0};
    struct drng_counters *counters = &drng_stats.live->counters;
    scripted_reset(scripted_good, scripted_good);
    behave(&scripted_rdseed, input);
    behave(&scripted_rdrand, input);
    drng_process.machine.evidence.masked[DRNG_RDSEED] = false; /* by libcrypto, which knows the real CPU */
    drng_process.machine.evidence.masked[DRNG_RDRAND] = false;
    *counters = none;
    memset(drng_family->instructions, 0, sizeof(drng_family->instructions));
    drng_process.machine.instructions[DRNG_RDSEED] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDSEED],
                                  .counters = &counters->instructions[DRNG_RDSEED],
                                  .family = &drng_family->instructions[DRNG_RDSEED]};
    drng_process.machine.instructions[DRNG_RDRAND] =
        (struct drng_instruction){.row = &drng_instruction_rows[DRNG_RDRAND],
                                  .counters = &counters->instructions[DRNG_RDRAND],
                                  .family = &drng_family->instructions[DRNG_RDRAND]};
    atomic_store(&drng_failed_algorithm, NULL);
}

void machine_open(void)
{
    struct fuzz_input nothing = {NULL, 0};
    scripted_reset(scripted_good, scripted_good);
    FUZZ_CHECK(drng_process_open(NULL));
    machine_start(&nothing); /* on what the process has found out by now */
}

uint64_t machine_seeds(void)
{
    const struct drng_counters *counters = &drng_stats.live->counters;
    return counters->seeds[DRNG_RDSEED] + counters->seeds[DRNG_RDRAND] + counters->seeds_fallback;
}

uint64_t machine_attempts(void)
{
    return machine_seeds() + drng_stats.live->counters.seed_failures;
}

struct machine_mark machine_mark(void)
{
    return (struct machine_mark){
        .clock_ns = scripted_clock_ns,
        .seeds = machine_seeds(),
        .attempts = machine_attempts(),
        .rdseed_seeds = drng_stats.live->counters.seeds[DRNG_RDSEED],
        .rdrand_seeds = drng_stats.live->counters.seeds[DRNG_RDRAND],
        .rdseed_disabled = drng_process.machine.instructions[DRNG_RDSEED].disabled,
        .rdrand_disabled = drng_process.machine.instructions[DRNG_RDRAND].disabled,
    };
}

void machine_check(const struct machine_mark *mark)
{
    const uint64_t seeds = machine_attempts() - mark->attempts;
    /* What is no seed takes time too: one request of RDRAND, or the fresh words of a chain of generators. */
    FUZZ_CHECK(scripted_clock_ns - mark->clock_ns <= (seeds + 1) * MACHINE_RESEED_NS);
    if (mark->rdseed_disabled) {
        FUZZ_CHECK(drng_process.machine.instructions[DRNG_RDSEED].disabled &&
                   drng_stats.live->counters.seeds[DRNG_RDSEED] == mark->rdseed_seeds);
    }
    if (mark->rdrand_disabled) {
        FUZZ_CHECK(drng_process.machine.instructions[DRNG_RDRAND].disabled &&
                   drng_stats.live->counters.seeds[DRNG_RDRAND] == mark->rdrand_seeds);
    }
    if (!drng_process_healthy()) {
        FUZZ_CHECK(machine_attempts() == mark->attempts);
    }
}
