/* SPDX-License-Identifier: Apache-2.0 */
/* Reads words within a budget of time, tests each, and disables an instruction that fails twice. */

#include "mixing/entropy/noise.h"

#include <string.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"
#include "mixing/machine/wipe.h"

/* ---- Time budgets ---- */

struct drng_budget drng_budget_of(uint64_t ns)
{
    return (struct drng_budget){.last_ns = drng_os_clock_ns(), .left_ns = ns, .whole_ns = ns, .stride = 2, .words = 2};
}

uint64_t drng_budget_charge(struct drng_budget *budget)
{
    const uint64_t now = drng_os_clock_ns();
    const uint64_t gap = now - budget->last_ns;
    const uint64_t most = gap < DRNG_GAP_CAP_NS ? gap : DRNG_GAP_CAP_NS;
    const uint64_t charge = most > DRNG_LOOK_NS ? most : DRNG_LOOK_NS;
    budget->last_ns = now;
    budget->left_ns -= charge < budget->left_ns ? charge : budget->left_ns;
    return gap;
}

bool drng_budget_count(struct drng_budget *budget, unsigned words)
{
    enum { FAST_NS = 2000, SLOW_NS = DRNG_GAP_CAP_NS / 8 };
    budget->read += words;
    budget->words -= words < budget->words ? words : budget->words;
    if (budget->words == 0) {
        const uint64_t ns_per_word = drng_budget_charge(budget) / budget->stride;
        budget->stride = ns_per_word <= FAST_NS ? 128 : ns_per_word <= SLOW_NS ? 8 : 1;
        budget->words = budget->stride;
        if (budget->whole_ns - budget->left_ns >= budget->whole_ns / 8 && budget->read < budget->needed / 16) {
            budget->left_ns = 0; /* the words will not come in time */
        }
    }
    return budget->left_ns > 0;
}

/* ---- Words ---- */

static void count_retries(struct drng_instruction *in, uint64_t retries)
{
    if (retries > 0) {
        atomic_fetch_add_explicit(&in->counters->retries, retries, memory_order_relaxed);
    }
}

/* Reads one word, for as long as the budget lasts if the instruction starves. */
static enum drng_result read_tested(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                    uint64_t *word)
{
    const struct drng_instruction_row *row = in->row;
    uint64_t retries = 0;
    bool read = drng_try_word(row->read, row->tries, &retries, word);
    while (!read && row->starves) {
        (void)drng_budget_charge(budget);
        if (budget->left_ns == 0) {
            break;
        }
        read = drng_try_word(row->read, row->tries, &retries, word);
    }
    count_retries(in, retries);
    if (!read) {
        return DRNG_EXHAUSTED;
    }
    return drng_health_passes(&noise->health, *word) ? DRNG_OK : DRNG_HEALTH_FAILED;
}

enum drng_result drng_noise_read(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                 uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum drng_result status = read_tested(in, noise, budget, &words[i]);
        if (status == DRNG_OK && !drng_budget_count(budget, 1) && i + 1 < count) {
            status = DRNG_SLOW;
        }
        if (status != DRNG_OK) {
            drng_wipe(words, count * sizeof(*words));
            return status;
        }
    }
    return DRNG_OK;
}

/*
 * Calls the fused loop once for each stretch between two looks at the clock. A stride of one word still takes a block
 * of two.
 */
enum drng_result drng_noise_mac(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                struct drng_cbc_mac *mac, size_t blocks)
{
    uint64_t retries = 0;
    enum drng_result status = DRNG_OK;

    while (blocks > 0 && status == DRNG_OK) {
        const size_t due = budget->words > 1 ? budget->words / 2 : 1;
        const size_t run = due < blocks ? due : blocks;
        status = drng_fused_mac(mac, &noise->health, run, NULL, &retries);
        blocks -= run;
        if (status == DRNG_OK && !drng_budget_count(budget, (unsigned)run * 2) && blocks > 0) {
            status = DRNG_SLOW;
        }
    }
    count_retries(in, retries);
    return status;
}

static unsigned trial_of(const struct drng_instruction *in)
{
    return atomic_load_explicit(&in->failures, memory_order_relaxed) + 1;
}

bool drng_noise_has_started(const struct drng_instruction *in, const struct drng_noise *noise)
{
    return noise->startup.words == DRNG_STARTUP_WORDS && noise->startup.trial == trial_of(in);
}

/* Runs the start-up tests, from where an earlier call ran out of time. The words are discarded. */
static enum drng_result start(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget)
{
    enum drng_result status = DRNG_OK;
    uint64_t word = 0;

    const unsigned trial = trial_of(in);
    if (noise->startup.trial != trial) {
        /* this reader is fresh, or had begun or passed the tests before another reader's failure */
        noise->startup = (struct drng_startup){.trial = trial};
    }
    while (noise->startup.words < DRNG_STARTUP_WORDS && status == DRNG_OK) {
        status = read_tested(in, noise, budget, &word);
        if (status == DRNG_OK && !drng_startup_passes(&noise->startup, word, &noise->health.tests.failed)) {
            status = DRNG_HEALTH_FAILED;
        }
        if (status == DRNG_OK && !drng_budget_count(budget, 1) && noise->startup.words < DRNG_STARTUP_WORDS) {
            status = DRNG_SLOW;
        }
    }
    drng_wipe(&word, sizeof(word));
    return status;
}

/* Of an instruction that is in order no process sees as many: docs/entropy.md has the rates of false alarms. */
enum { MOST_FAILURES = 8 };

/*
 * Counts the failure, and returns the reader to its beginning: no key that is made of words that failed conditions
 * later words. The word that failed opens the windows of the tests, so that it fails again when it comes again, in
 * whatever rhythm; where recurring words were too many, the next one is. False: it was one too many.
 */
static bool forgive(struct drng_instruction *in, struct drng_noise *noise)
{
    const enum drng_health_test test = noise->health.tests.failed;
    const uint64_t word = noise->health.tests.rct.value;
    atomic_store_explicit(&in->failed_test, (unsigned)test, memory_order_relaxed);
    drng_count(&in->counters->health_failures);
    drng_count(&in->family->failures);
    const unsigned failures = atomic_fetch_add_explicit(&in->failures, 1, memory_order_relaxed) + 1;
    drng_wipe(noise, sizeof(*noise));
    if (failures < MOST_FAILURES) {
        (void)drng_health_passes(&noise->health, word);
        noise->health.tests.suspect = word;
        noise->health.tests.recurring.seen = test == DRNG_TEST_RECURRENCE ? DRNG_PRINT_CUTOFF - 1 : 0;
    }
    return failures < MOST_FAILURES;
}

static enum drng_result attempt(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                drng_noise_work *work, void *arg)
{
    bool may_fail = true;
    for (unsigned run = 0; run < 2 && may_fail; run++) {
        enum drng_result status = drng_noise_has_started(in, noise) ? DRNG_OK : start(in, noise, budget);
        if (status == DRNG_OK && work != NULL) {
            status = work(arg, budget);
        }
        if (status != DRNG_HEALTH_FAILED) {
            return status;
        }
        may_fail = forgive(in, noise);
    }
    if (!atomic_exchange_explicit(&in->disabled, 1, memory_order_release)) {
        drng_count(&in->family->disabled);
    }
    drng_wipe(noise, sizeof(*noise));
    return DRNG_HEALTH_FAILED;
}

static const uint64_t slow_ns = DRNG_SLOW_SECONDS * UINT64_C(1000000000);

/* A time that lies further ahead was noted by another clock, or by somebody who wants the instruction left alone. */
bool drng_noise_is_slow(const struct drng_instruction *in)
{
    const uint64_t until = atomic_load_explicit(&in->family->slow_until, memory_order_relaxed);
    return until != 0 && !in->row->starves && until - drng_os_clock_ns() <= slow_ns;
}

static void note_slow(struct drng_instruction *in)
{
    drng_count(&in->family->slow);
    drng_note(&in->family->slow_until, drng_os_clock_ns() + slow_ns);
}

enum drng_result drng_noise_attempt(struct drng_instruction *in, struct drng_noise *noise, uint64_t budget_ns,
                                    drng_noise_work *work, void *arg)
{
    const bool startup_is_slow = in->row->starves && !drng_noise_has_started(in, noise);
    struct drng_budget budget = drng_budget_of(budget_ns + (startup_is_slow ? DRNG_STARTUP_BUDGET_NS : 0));
    const bool disabled = atomic_load_explicit(&in->disabled, memory_order_relaxed) != 0;
    const enum drng_result status = disabled ? DRNG_UNAVAILABLE : attempt(in, noise, &budget, work, arg);
    if (status == DRNG_SLOW && work != NULL) {
        note_slow(in);
    }
    if (work != NULL) {
        drng_note(&in->counters->last_words, budget.read);
        drng_note(&in->counters->last_result, (uint64_t)DRNG_LAST_SERVED + status);
    }
    return status;
}

/* ---- Words that are no seed ---- */

struct fill {
    struct drng_instruction *instruction;
    struct drng_noise *noise;
    unsigned tries;
    bool timed;
    uint8_t *out;
    size_t len;
};

static enum drng_result fill(void *arg, struct drng_budget *budget)
{
    const struct fill *task = arg;
    enum drng_result status = DRNG_OK;
    uint64_t retries = 0;
    uint64_t word = 0;

    for (size_t done = 0; done < task->len && status == DRNG_OK; done += sizeof(word)) {
        const size_t left = task->len - done;
        const bool read = drng_try_word(task->instruction->row->read, task->tries, &retries, &word);
        if (!read) {
            status = DRNG_EXHAUSTED;
        } else if (!drng_health_passes(&task->noise->health, word)) {
            status = DRNG_HEALTH_FAILED;
        } else if (!drng_budget_count(budget, 1) && task->timed && left > sizeof(word)) {
            status = DRNG_SLOW;
        } else {
            memcpy(task->out + done, &word, left < sizeof(word) ? left : sizeof(word));
        }
    }
    drng_wipe(&word, sizeof(word));
    count_retries(task->instruction, retries);
    return status;
}

enum drng_result drng_noise_fill(struct drng_instruction *in, struct drng_noise *noise, unsigned tries, bool timed,
                                 uint8_t *out, size_t len)
{
    struct fill task = {in, noise, tries, timed, out, len};
    const enum drng_result status = drng_noise_attempt(in, noise, DRNG_LAST_BUDGET_NS, fill, &task);
    if (status != DRNG_OK) {
        drng_wipe(out, len);
    }
    drng_cpu_clear_vectors();
    return status;
}
