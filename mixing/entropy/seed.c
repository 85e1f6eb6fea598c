/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the sources in their order; the first that serves makes the whole seed. */

#include "mixing/entropy/seed.h"

#include <endian.h>
#include <string.h>
#include <time.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"
#include "mixing/machine/wipe.h"
#include "mixing/state/clone.h"

enum {
    CHUNK_WORDS = 4,
    OS_CHUNK = 64, /* bytes: the largest seed that a DRBG asks for, in one system call */
};

/* The arguments of one seed from one instruction. */
struct task {
    const struct drng_seed_policy *policy;
    struct drng_instruction *instruction;
    struct drng_noise *noise;
    uint8_t *out;
    size_t len;
    bool others_after; /* another source serves if this one does not */
};

static size_t window_of(const struct drng_seed_policy *policy, const struct drng_instruction_row *row)
{
    return row->seed_grade && policy->rdseed_words != 0 ? policy->rdseed_words : row->window_words;
}

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

/*
 * Conditions a window of words, least significant byte first, into a block of seed. If the window cannot be filled, the
 * block is not to be used.
 */
static enum drng_result make_block(const struct task *task, struct drng_budget *budget,
                                   uint8_t block[DRNG_CONDITIONED_LEN])
{
    const struct drng_seed_policy *policy = task->policy;
    const struct drng_instruction_row *row = task->instruction->row;
    const bool fused = policy->aes->fuses && policy->conditioner == DRNG_CBC_MAC && row->fused;
    const size_t window = window_of(policy, row);
    struct drng_conditioner conditioner;
    uint64_t words[CHUNK_WORDS];
    enum drng_result status = DRNG_OK;

    drng_conditioner_begin(&conditioner, policy->conditioner, policy->aes, task->noise->key);
    if (fused) {
        status = drng_noise_mac(task->instruction, task->noise, budget, &conditioner.cbc_mac, window / 2);
    }
    for (size_t done = 0; !fused && done < window && status == DRNG_OK; done += CHUNK_WORDS) {
        const size_t count = window - done < CHUNK_WORDS ? window - done : (size_t)CHUNK_WORDS;
        status = drng_noise_read(task->instruction, task->noise, budget, words, count);
        for (size_t i = 0; i < count; i++) {
            words[i] = htole64(words[i]);
        }
        if (status == DRNG_OK) {
            drng_conditioner_update(&conditioner, words, count * sizeof(*words));
        }
    }
    drng_conditioner_end(&conditioner, block);
    drng_wipe(words, sizeof(words));
    return status;
}

/* The words that a seed of so many bytes takes. */
static size_t words_of(const struct drng_seed_policy *policy, const struct drng_instruction_row *row, size_t len)
{
    return (len + DRNG_CONDITIONED_LEN - 1) / DRNG_CONDITIONED_LEN * window_of(policy, row);
}

static enum drng_result make_seed(void *arg, struct drng_budget *budget)
{
    const struct task *task = arg;
    const struct drng_instruction_row *row = task->instruction->row;
    uint8_t block[DRNG_CONDITIONED_LEN];
    budget->needed = task->others_after && !row->starves ? words_of(task->policy, row, task->len) : 0;
    enum drng_result status = task->noise->keyed ? DRNG_OK : draw_key(task, budget);

    for (size_t done = 0; done < task->len && status == DRNG_OK; done += sizeof(block)) {
        status = make_block(task, budget, block);
        if (status == DRNG_OK) {
            const size_t left = task->len - done;
            memcpy(task->out + done, block, left < sizeof(block) ? left : sizeof(block));
        }
    }
    if (status == DRNG_OK) {
        drng_health_forget_last(&task->noise->health);
    }
    drng_wipe(block, sizeof(block));
    return status;
}

/* Whether another source serves if this instruction does not. One that is disabled does not. */
static bool has_others_after(const struct drng_seed_policy *policy, unsigned instruction)
{
    bool others = policy->fallback != NULL;
    for (unsigned i = instruction + 1; i < DRNG_INSTRUCTIONS; i++) {
        const struct drng_instruction *in = policy->instructions[i];
        others |= in != NULL && !atomic_load_explicit(&in->disabled, memory_order_relaxed);
    }
    return others;
}

/*
 * How long the instruction may take for a seed. The last enabled source in line gets the long time, and whoever has it
 * take hundreds of words for a block waits for them.
 */
static uint64_t budget_of(const struct drng_seed_policy *policy, unsigned instruction, size_t len)
{
    const struct drng_instruction_row *row = &drng_instruction_rows[instruction];
    const uint64_t usual = has_others_after(policy, instruction) ? DRNG_SEED_BUDGET_NS : DRNG_LAST_BUDGET_NS;
    const uint64_t of_words = words_of(policy, row, len) * DRNG_WORD_BUDGET_NS;
    return !row->starves ? DRNG_STEADY_BUDGET_NS : of_words > usual ? of_words : usual;
}

void drng_seed_add(uint8_t *seed, size_t len, const uint8_t *bytes, size_t bytes_len)
{
    for (size_t i = 0; i < bytes_len; i++) {
        seed[i % len] ^= bytes[i];
    }
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
        const uint64_t now = drng_os_clock_ns();
        drng_seed_add(out, len, (const uint8_t *)&now, sizeof(now));
    }
    return DRNG_OK;
}

/*
 * Adds bytes of the kernel's generator to the seed. They earn no entropy credit; with them, a CPU with predictable
 * words leaves the seed as strong as it was without drng. Early in boot the kernel has none, and the seed does without:
 * that is counted.
 */
static void mix_os(uint8_t *out, size_t len, struct drng_counters *counters)
{
    uint8_t bytes[OS_CHUNK];
    for (size_t done = 0; done < len; done += sizeof(bytes)) {
        const size_t part = len - done < sizeof(bytes) ? len - done : sizeof(bytes);
        if (!drng_os_random(bytes, part)) {
            drng_count(&counters->seeds_without_kernel);
            break;
        }
        drng_seed_add(out + done, part, bytes, part);
    }
    drng_wipe(bytes, sizeof(bytes));
}

static void count(const struct drng_seed_policy *policy, enum drng_source source)
{
    struct drng_counters *counters = policy->counters;
    drng_note(&counters->source, source);
    if (source == DRNG_SOURCE_NONE) {
        drng_count(&counters->seed_failures);
    } else if (source == DRNG_SOURCE_FALLBACK) {
        drng_count(&counters->seeds_fallback);
    } else {
        drng_count(&counters->seeds[source - DRNG_SOURCE_INSTRUCTION]);
    }
}

enum drng_result drng_seed_get(const struct drng_seed_policy *policy, struct drng_seed_reader *reader, uint8_t *out,
                               size_t len, enum drng_source *source)
{
    enum drng_result status = DRNG_UNAVAILABLE;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS && status != DRNG_OK; i++) {
        struct drng_instruction *in = policy->instructions[i];
        if (in != NULL) {
            struct task task = {policy, in, &reader->noise[i], out, len, has_others_after(policy, i)};
            *source = DRNG_SOURCE_INSTRUCTION + i;
            if (task.others_after && drng_noise_is_slow(in)) {
                status = DRNG_SLOW;
                drng_note(&in->counters->last_result, DRNG_LAST_SLOW);
            } else {
                status = drng_noise_attempt(in, task.noise, budget_of(policy, i, len), make_seed, &task);
            }
        }
    }
    if (status != DRNG_OK) {
        *source = DRNG_SOURCE_FALLBACK;
        status = from_fallback(policy, out, len);
    } else if (policy->os_mixing) {
        mix_os(out, len, policy->counters);
    }
    if (status != DRNG_OK) {
        *source = DRNG_SOURCE_NONE;
        drng_wipe(out, len);
    }
    drng_wipe_stack_2048();
    drng_cpu_clear_vectors();
    count(policy, *source);
    return status;
}

struct drng_root_slot *drng_root_take(struct drng_place *place, const struct drng_guard *guard)
{
    return (struct drng_root_slot *)(void *)drng_guard_take(guard, place, DRNG_WAITS);
}

void drng_root_give_back(struct drng_place *place, const struct drng_guard *guard, struct drng_root_slot *slot)
{
    drng_guard_give_back(place, &slot->guarded, DRNG_WAITS, drng_guard_is_mine(guard));
}

enum drng_result drng_root_test(const struct drng_root *root, const struct drng_guard *guard)
{
    struct drng_root_slot *slot = drng_root_take(root->place, guard);
    enum drng_result result = DRNG_OK;
    if (slot == NULL) {
        return drng_place_denial(root->place);
    }
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        struct drng_instruction *in = root->policy->instructions[i];
        if (in != NULL) {
            slot->reader.noise[i].startup = (struct drng_startup){0};
            const enum drng_result of_this =
                drng_noise_attempt(in, &slot->reader.noise[i], budget_of(root->policy, i, 0), NULL, NULL);
            if (of_this == DRNG_HEALTH_FAILED || of_this == DRNG_UNAVAILABLE) {
                result = DRNG_HEALTH_FAILED;
            }
        }
    }
    drng_root_give_back(root->place, guard, slot);
    return result;
}

enum drng_result drng_root_seed(struct drng_root *root, const struct drng_guard *guard, uint8_t *out, size_t len)
{
    enum drng_result status = atomic_load(&root->open) ? DRNG_OK : DRNG_NO_SEED;
    enum drng_source weakest = DRNG_SOURCE_NONE;
    for (size_t done = 0; done < len && status == DRNG_OK; done += DRNG_SEED_PIECE) {
        const size_t piece = len - done < DRNG_SEED_PIECE ? len - done : DRNG_SEED_PIECE;
        struct drng_root_slot *slot = drng_root_take(root->place, guard); /* a piece at a time: threads take turns */
        enum drng_source source = DRNG_SOURCE_NONE;
        if (slot != NULL) {
            status = drng_seed_get(root->policy, &slot->reader, out + done, piece, &source);
            drng_root_give_back(root->place, guard, slot);
        } else {
            status = drng_place_denial(root->place);
        }
        weakest = source > weakest ? source : weakest;
    }
    atomic_store(&root->last, (unsigned)(status == DRNG_OK ? weakest : DRNG_SOURCE_NONE));
    if (status != DRNG_OK) {
        drng_wipe(out, len);
        return status;
    }
    atomic_store(&root->serving, (unsigned)weakest);
    drng_note(&root->policy->counters->last_seed, (uint64_t)time(NULL));
    return DRNG_OK;
}
