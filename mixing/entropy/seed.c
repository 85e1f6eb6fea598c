#include "mixing/entropy/seed.h"

#include <string.h>

#include "mixing/machine/clone.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"
#include "mixing/machine/probes.h"
#include "mixing/memory/wipe.h"

enum {
    CHUNK_WORDS = 4, /* a divisor of each window_words */
    OS_CHUNK = 64,   /* bytes: the largest seed that a DRBG asks for, in one system call */
};

/* The arguments of one seed from one instruction. */
struct task {
    const struct drng_seed_policy *policy;
    struct drng_instruction *instruction;
    struct drng_noise *noise;
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

    for (size_t done = 0; done < task->instruction->row->window_words && status == DRNG_OK; done += CHUNK_WORDS) {
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
    const struct drng_instruction_row *row = task->instruction->row;
    enum drng_result status = DRNG_OK;

    drng_conditioner_begin(&conditioner, policy->conditioner, policy->aes, task->noise->key);
    if (policy->aes->fuses && policy->conditioner == DRNG_CBC_MAC && row->fused) {
        status = drng_noise_mac(task->instruction, task->noise, budget, &conditioner.cbc_mac, row->window_words / 2);
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

/* The last source gets more time, since no other source waits for its turn. */
static uint64_t budget_of(const struct drng_seed_policy *policy, unsigned i)
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

static enum drng_result from_instruction(const struct drng_seed_policy *policy, struct drng_seed_reader *reader,
                                         unsigned i, uint8_t *out, size_t len)
{
    struct drng_instruction *in = policy->instructions[i];
    struct task task = {policy, in, &reader->noise[i], out, len};
    return in != NULL ? drng_noise_attempt(in, task.noise, budget_of(policy, i), make_seed, &task) : DRNG_UNAVAILABLE;
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

static void count(struct drng_counters *counters, enum drng_source source, size_t len)
{
    DRNG_PROBE2(seed, source, len);
    drng_note_source(counters, source);
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
    count(policy->counters, source, len);
    return status;
}
