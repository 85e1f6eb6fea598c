#include "mixing/noise.h"

#include <string.h>

#include "mixing/cpu.h"
#include "mixing/wipe.h"

enum {
    TRIES_PER_LOOK = 8,        /* failed tries of a starving instruction between two looks at the clock */
    WORDS_PER_LOOK = 8,        /* words of a slow instruction between two looks */
    BLOCKS_PER_LOOK_SLOW = 4,  /* the same for the fused way */
    BLOCKS_PER_LOOK_FAST = 64, /* and once the instruction has shown that it is quick */
    FAST_BLOCK_NS = 4000,
};

/* One word before the health tests. */
static enum drng_status read_word(struct drng_instruction *in, struct drng_budget *budget, uint64_t *word)
{
    uint64_t tries = 1;
    while (!in->read(word)) {
        atomic_fetch_add_explicit(&in->retries, 1, memory_order_relaxed);
        if (in->starves && tries % TRIES_PER_LOOK == 0) {
            (void)drng_budget_charge(budget);
        }
        const bool out_of_tries = !in->starves && tries == DRNG_RDRAND_TRIES;
        if (out_of_tries || drng_budget_spent(budget)) {
            return DRNG_EXHAUSTED;
        }
        tries++;
        drng_cpu_pause();
    }
    return DRNG_OK;
}

static enum drng_status read_tested(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                    uint64_t *word)
{
    const enum drng_status status = read_word(in, budget, word);
    if (status != DRNG_OK) {
        return status;
    }
    return drng_health_passes(&noise->health, *word) ? DRNG_OK : DRNG_HEALTH_FAILED;
}

enum drng_status drng_noise_read(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                 uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum drng_status status = read_tested(in, noise, budget, &words[i]);
        if (status == DRNG_OK && i % WORDS_PER_LOOK == WORDS_PER_LOOK - 1) {
            (void)drng_budget_charge(budget);
            status = drng_budget_spent(budget) ? DRNG_EXHAUSTED : DRNG_OK;
        }
        if (status != DRNG_OK) {
            drng_wipe(words, count * sizeof(*words));
            return status;
        }
    }
    return DRNG_OK;
}

enum drng_status drng_noise_mac(struct drng_instruction *rdrand, struct drng_noise *noise, struct drng_budget *budget,
                                struct drng_cbc_mac *mac, size_t blocks)
{
    uint64_t retries = 0;
    enum drng_status status = DRNG_OK;
    size_t part = BLOCKS_PER_LOOK_SLOW;

    while (blocks > 0 && status == DRNG_OK) {
        part = part < blocks ? part : blocks;
        status = drng_cpu_rdrand_mac(mac, &noise->health, part, &retries);
        blocks -= part;
        const uint64_t taken_ns = drng_budget_charge(budget);
        if (status == DRNG_OK && drng_budget_spent(budget)) {
            status = DRNG_EXHAUSTED;
        }
        part = taken_ns <= part * FAST_BLOCK_NS ? BLOCKS_PER_LOOK_FAST : BLOCKS_PER_LOOK_SLOW;
    }
    atomic_fetch_add_explicit(&rdrand->retries, retries, memory_order_relaxed);
    return status;
}

/* The start-up tests, from where an earlier attempt ran out of time. The words are thrown away. */
static enum drng_status start(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget)
{
    enum drng_status status = DRNG_OK;
    uint64_t word = 0;

    while (noise->startup.words < DRNG_STARTUP_WORDS && status == DRNG_OK) {
        status = read_tested(in, noise, budget, &word);
        if (status == DRNG_OK && !drng_startup_passes(&noise->startup, word, &noise->health.failed)) {
            status = DRNG_HEALTH_FAILED;
        }
        if (status == DRNG_OK && noise->startup.words % WORDS_PER_LOOK == 0) {
            (void)drng_budget_charge(budget);
            status = drng_budget_spent(budget) ? DRNG_EXHAUSTED : DRNG_OK;
        }
    }
    drng_wipe(&word, sizeof(word));
    if (noise->startup.words == DRNG_STARTUP_WORDS) {
        atomic_store_explicit(&in->started, true, memory_order_release);
        status = DRNG_OK;
    }
    return status;
}

static bool has_started(struct drng_instruction *in)
{
    return atomic_load_explicit(&in->started, memory_order_acquire);
}

static enum drng_status start_and_work(struct drng_instruction *in, struct drng_noise *noise,
                                       struct drng_budget *budget, drng_noise_work *work, void *arg)
{
    const enum drng_status status = has_started(in) ? DRNG_OK : start(in, noise, budget);
    return status == DRNG_OK ? work(arg, budget) : status;
}

/* Counts a failed test and forgets all that the reader knew, so that the next words are tested afresh. */
static void record_failure(struct drng_instruction *in, struct drng_noise *noise)
{
    atomic_store_explicit(&in->failed_test, (unsigned)noise->health.failed, memory_order_relaxed);
    atomic_fetch_add_explicit(&in->health_failures, 1, memory_order_relaxed);
    atomic_store_explicit(&in->started, false, memory_order_release);
    drng_wipe(noise, sizeof(*noise));
}

enum drng_status drng_noise_attempt(struct drng_instruction *in, struct drng_noise *noise, drng_noise_work *work,
                                    void *arg)
{
    if (atomic_load_explicit(&in->disabled, memory_order_relaxed)) {
        return DRNG_UNAVAILABLE;
    }
    struct drng_budget budget = drng_budget_of(has_started(in) ? DRNG_SEED_BUDGET_NS : DRNG_FIRST_SEED_BUDGET_NS);
    enum drng_status status = start_and_work(in, noise, &budget, work, arg);
    if (status == DRNG_HEALTH_FAILED) {
        record_failure(in, noise);
        status = start_and_work(in, noise, &budget, work, arg);
    }
    if (status == DRNG_HEALTH_FAILED) {
        record_failure(in, noise);
        atomic_store_explicit(&in->disabled, true, memory_order_relaxed);
    }
    return status;
}
