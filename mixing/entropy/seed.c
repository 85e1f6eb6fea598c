#include "mixing/entropy/seed.h"

#include <string.h>

#include "mixing/machine/clone.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"
#include "mixing/machine/probes.h"
#include "mixing/memory/wipe.h"

enum {
    CHUNK_WORDS = DRNG_WINDOW_UNIT,
    OS_CHUNK = 64, /* bytes: the largest seed that a DRBG asks for, in one system call */
};

/* The arguments of one seed from one instruction. */
struct task {
    const struct drng_seed_policy *policy;
    struct drng_instruction *instruction;
    struct drng_noise *noise;
    size_t window_words;
    uint8_t *out;
    size_t len;
};

/*
 * The key earns no entropy credit. It only has to differ from reader to reader, even if the words have less entropy
 * than claimed.
 */
static enum drng_result draw_key(const struct task *task, struct drng_budget *budget)
{
    uint64_t words[DRNG_CONDITIONER_KEY_LEN / sizeof(uint64_t)];
    const enum drng_result status =
        drng_noise_read(task->instruction, task->noise, budget, words, sizeof(words) / sizeof(*words));
    if (status == DRNG_OK) {
        memcpy(task->noise->key, words, sizeof(words));
        task->noise->keyed = true;
    }
    drng_wipe(words, sizeof(words));
    return status;
}

static enum drng_result absorb_in_chunks(const struct task *task, struct drng_budget *budget,
                                         struct drng_conditioner *conditioner)
{
    uint64_t words[CHUNK_WORDS];
    enum drng_result status = DRNG_OK;

    for (size_t done = 0; done < task->window_words && status == DRNG_OK; done += CHUNK_WORDS) {
        status = drng_noise_read(task->instruction, task->noise, budget, words, CHUNK_WORDS);
        if (status == DRNG_OK) {
            drng_conditioner_update(conditioner, words, CHUNK_WORDS);
        }
    }
    drng_wipe(words, sizeof(words));
    return status;
}

/* Conditions a window of words into a block of seed. If the window cannot be filled, all of its words are discarded. */
static enum drng_result make_block(const struct task *task, struct drng_budget *budget,
                                   uint8_t block[DRNG_CONDITIONED_LEN])
{
    const struct drng_seed_policy *policy = task->policy;
    struct drng_conditioner conditioner;
    enum drng_result status = DRNG_OK;

    drng_conditioner_begin(&conditioner, policy->conditioner, policy->aes, task->noise->key);
    if (policy->aes->fuses && policy->conditioner == DRNG_CBC_MAC && task->instruction->row->fused) {
        status = drng_noise_mac(task->instruction, task->noise, budget, &conditioner.cbc_mac, task->window_words / 2);
    } else {
        status = absorb_in_chunks(task, budget, &conditioner);
    }
    if (status == DRNG_OK) {
        drng_conditioner_end(&conditioner, block);
    } else {
        drng_conditioner_drop(&conditioner);
    }
    return status;
}

static enum drng_result make_seed(void *arg, struct drng_budget *budget)
{
    const struct task *task = arg;
    uint8_t block[DRNG_CONDITIONED_LEN];
    enum drng_result status = task->noise->keyed ? DRNG_OK : draw_key(task, budget);

    for (size_t done = 0; done < task->len && status == DRNG_OK; done += sizeof(block)) {
        status = make_block(task, budget, block);
        if (status == DRNG_OK) {
            const size_t left = task->len - done;
            memcpy(task->out + done, block, left < sizeof(block) ? left : sizeof(block));
        }
    }
    drng_wipe(block, sizeof(block));
    return status;
}

static size_t blocks_of(size_t len)
{
    return (len + DRNG_CONDITIONED_LEN - 1) / DRNG_CONDITIONED_LEN;
}

/* The last source gets more time, since no other source waits for its turn. */
static uint64_t budget_by_place(const struct drng_seed_policy *policy, unsigned i)
{
    bool others_before = false;
    bool others_after = policy->fallback != NULL;
    for (unsigned other = 0; other < DRNG_INSTRUCTIONS; other++) {
        others_before |= other < i && policy->instructions[other] != NULL;
        others_after |= other > i && policy->instructions[other] != NULL;
    }
    const bool starves = drng_instruction_rows[i].starves;
    if (others_after) {
        return starves || policy->aes->fuses ? DRNG_SEED_BUDGET_NS : DRNG_PLAIN_BUDGET_NS;
    }
    if (others_before && starves) {
        return DRNG_LAST_BUDGET_NS - DRNG_STARTUP_BUDGET_NS; /* which it may have to wait for, as the one before it */
    }
    return others_before || starves ? DRNG_LAST_BUDGET_NS : DRNG_SOLE_BUDGET_NS;
}

/* By certificate a window may take hundreds of words: their number decides then. */
static uint64_t budget_of(const struct drng_seed_policy *policy, unsigned i, size_t words)
{
    const uint64_t by_place = budget_by_place(policy, i);
    const uint64_t by_words = policy->certified[i] != NULL ? words * DRNG_CERTIFIED_WORD_NS : 0;
    return by_words > by_place ? by_words : by_place;
}

static size_t window_words(const struct drng_seed_policy *policy, unsigned i)
{
    const struct drng_claim *certified = policy->certified[i];
    return certified != NULL ? drng_claim_window_words(certified) : drng_instruction_rows[i].window_words;
}

/* The entropy that is claimed for the words of a seed, in bits; of another source's seeds nothing is. */
static uint64_t claimed_bits(const struct drng_seed_policy *policy, enum drng_source source, size_t len)
{
    if (source == DRNG_SOURCE_NONE || source == DRNG_SOURCE_FALLBACK) {
        return 0;
    }
    const unsigned i = source - DRNG_SOURCE_INSTRUCTION;
    const struct drng_claim *certified = policy->certified[i];
    const unsigned bits = certified != NULL ? drng_claim_window_bits(certified, window_words(policy, i))
                                            : drng_instruction_rows[i].window_bits;
    return (uint64_t)bits * blocks_of(len);
}

static enum drng_result from_instruction(const struct drng_seed_policy *policy, struct drng_seed_reader *reader,
                                         unsigned i, uint8_t *out, size_t len)
{
    struct drng_instruction *in = policy->instructions[i];
    if (in == NULL) {
        return DRNG_UNAVAILABLE;
    }
    struct task task = {policy, in, &reader->noise[i], window_words(policy, i), out, len};
    const uint64_t budget = budget_of(policy, i, task.window_words * blocks_of(len));
    return drng_noise_attempt(in, task.noise, budget, make_seed, &task);
}

void drng_seed_add(uint8_t *seed, size_t len, const uint8_t *bytes, size_t bytes_len)
{
    for (size_t i = 0; i < bytes_len; i++) {
        seed[i % len] ^= bytes[i];
    }
}

static void mix_time(uint8_t *out, size_t len)
{
    const uint64_t now = drng_os_clock_ns();
    drng_seed_add(out, len, (const uint8_t *)&now, sizeof(now));
}

/*
 * The fallback takes bytes of the kernel. If the machine was copied, they may still be the same in all copies after the
 * wait; then only the time tells the copies apart.
 */
static enum drng_result from_fallback(const struct drng_seed_policy *policy, uint8_t *out, size_t len)
{
    if (policy->fallback == NULL) {
        return DRNG_NO_FALLBACK;
    }
    drng_clone_let_kernel_hear();
    if (!policy->fallback(policy->fallback_arg, out, len)) {
        return DRNG_FALLBACK_FAILED;
    }
    if (drng_clone_count() != 0) {
        mix_time(out, len);
    }
    return DRNG_OK;
}

/*
 * Adds bytes of the kernel's generator to the seed. They earn no entropy credit; with them, a CPU with predictable
 * words leaves the seed as strong as it was without drng. Early in boot the kernel has none, and the seed does without.
 */
static void mix_os(uint8_t *out, size_t len)
{
    uint8_t bytes[OS_CHUNK];
    for (size_t done = 0; done < len; done += sizeof(bytes)) {
        const size_t part = len - done < sizeof(bytes) ? len - done : sizeof(bytes);
        if (!drng_os_random(bytes, part)) {
            break;
        }
        drng_seed_add(out + done, part, bytes, part);
    }
    drng_wipe(bytes, sizeof(bytes));
}

static void count(const struct drng_seed_policy *policy, enum drng_source source, size_t len)
{
    struct drng_counters *counters = policy->counters;
    DRNG_PROBE2(seed, source, len);
    drng_note_source(counters, source);
    drng_note_claimed(counters, claimed_bits(policy, source, len));
    if (source == DRNG_SOURCE_NONE) {
        drng_count(&counters->seed_failures);
    } else if (source == DRNG_SOURCE_FALLBACK) {
        drng_count(&counters->seeds_fallback);
        DRNG_PROBE1(fallback, len);
    } else {
        drng_count(&counters->seeds[source - DRNG_SOURCE_INSTRUCTION]);
    }
}

enum drng_result drng_seed_get(const struct drng_seed_policy *policy, struct drng_seed_reader *reader, uint8_t *out,
                               size_t len)
{
    enum drng_source source = DRNG_SOURCE_NONE;
    enum drng_result status = DRNG_UNAVAILABLE;
    drng_clone_try_again();
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS && status != DRNG_OK; i++) {
        source = DRNG_SOURCE_INSTRUCTION + i;
        status = from_instruction(policy, reader, i, out, len);
    }
    if (status == DRNG_OK && policy->os_mixing) {
        mix_os(out, len);
    }
    if (status != DRNG_OK) {
        source = DRNG_SOURCE_FALLBACK;
        status = from_fallback(policy, out, len);
    }
    if (status != DRNG_OK) {
        source = DRNG_SOURCE_NONE;
        drng_wipe(out, len);
    }
    drng_wipe_stack_2048();
    drng_cpu_clear_vectors();
    count(policy, source, len);
    return status;
}
