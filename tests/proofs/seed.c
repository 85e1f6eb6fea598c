/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a seed comes from. The instructions and the conditioner are stubs that note who was asked for what, and whose
 * words carry their source: a block is made of the words of one instruction, so its source is seen in every byte.
 */

#include <string.h>

#include "mixing/entropy/seed.h"
#include "mixing/machine/os.h"
#include "mixing/state/clone.h"
#include "proof.h"

#ifndef SEED_LEN
#define SEED_LEN 33
#endif

enum {
    WINDOW_WORDS = 4,
    FALLBACK_BYTE = 0x77,
};

/* ---- Stubs ---- */

static struct drng_instruction instructions[DRNG_INSTRUCTIONS];
static struct drng_seed_policy policy;
static struct drng_seed_reader reader;
static unsigned asked; /* how many sources so far; they are asked in this order */
static unsigned fallback_asked;
static unsigned kernel_asked;
static bool was_copied;

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    {.name = "first", .starves = true, .window_words = WINDOW_WORDS},
    {.name = "second", .fused = true, .window_words = WINDOW_WORDS},
};

static unsigned index_of(const struct drng_instruction *instruction)
{
    CLAIM(instruction == &instructions[0] || instruction == &instructions[1], "an instruction of the policy");
    return instruction == &instructions[0] ? 0 : 1;
}

static uint8_t tag_of(unsigned i)
{
    return (uint8_t)(1 + i);
}

void drng_cpu_clear_vectors(void) {}

/* What is added to a seed is zero here, so that its source stays seen; prove_add() has the sum. */
uint64_t drng_os_clock_ns(void)
{
    return 0;
}

bool drng_os_random(uint8_t *out, size_t len)
{
    kernel_asked++;
    memset(out, 0, len);
    return nondet_bool();
}

void drng_clone_let_kernel_hear(void) {}

uint64_t drng_clone_count(void)
{
    return was_copied ? 1 : 0;
}

static enum drng_result any_result(void)
{
    return nondet_bool() ? DRNG_OK : nondet_bool() ? DRNG_EXHAUSTED : DRNG_HEALTH_FAILED;
}

/* On failure all of words is zero. */
enum drng_result drng_noise_read(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                 uint64_t *words, size_t count)
{
    const unsigned i = index_of(in);
    const enum drng_result result = any_result();
    CLAIM(noise == &reader.noise[i], "an instruction has its own reader");
    for (size_t j = 0; j < count; j++) {
        words[j] = result == DRNG_OK ? UINT64_C(0x0101010101010101) * tag_of(i) : 0;
    }
    return result;
}

/* The window that is being filled. */
static struct {
    const struct drng_conditioner *conditioner; /* NULL: none is */
    uint8_t key_of;
    uint8_t words_of;
    size_t words;
} window;

static void add_to_window(uint8_t tag, size_t count)
{
    CLAIM(window.conditioner != NULL && (window.words == 0 || window.words_of == tag),
          "a window has words of one instruction");
    CLAIM(window.key_of == tag, "the conditioner's key is of the instruction that it conditions");
    window.words_of = tag;
    window.words += count;
}

enum drng_result drng_noise_mac(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                struct drng_cbc_mac *mac, size_t blocks)
{
    const unsigned i = index_of(in);
    CLAIM(noise == &reader.noise[i] && policy.aes->fuses && drng_instruction_rows[i].fused,
          "its own reader, and a fused loop that there is");
    CLAIM(window.conditioner != NULL && mac == &window.conditioner->cbc_mac, "the conditioner that was begun");
    add_to_window(tag_of(i), 2 * blocks);
    return any_result();
}

/* Asked only where another source is next: what is slow is passed over. */
bool drng_noise_is_slow(const struct drng_instruction *in)
{
    const unsigned i = index_of(in);
    const bool slow = nondet_bool();
    asked = slow ? i + 1 : asked;
    return slow;
}

/* May be disabled, may fail before the work, and does the work again after a failure with a reader of zeros. */
enum drng_result drng_noise_attempt(struct drng_instruction *in, struct drng_noise *noise, uint64_t budget_ns,
                                    drng_noise_work *work, void *arg)
{
    struct drng_budget budget = {0};
    const unsigned i = index_of(in);
    CLAIM(i >= asked && fallback_asked == 0, "sources are asked in the order of the policy");
    CLAIM(budget_ns >= DRNG_SEED_BUDGET_NS && budget_ns <= DRNG_STEADY_BUDGET_NS, "a source has one of the budgets");
    asked = i + 1;
    enum drng_result status = nondet_bool() ? work(arg, &budget) : DRNG_EXHAUSTED;
    if (status == DRNG_HEALTH_FAILED) {
        noise->keyed = false;
        memset(noise->key, 0, sizeof(noise->key));
        status = work(arg, &budget);
    }
    return status;
}

void any_begin(struct drng_conditioner *c, enum drng_conditioner_kind kind, const struct drng_aes *aes,
               const uint8_t key[DRNG_CONDITIONER_KEY_LEN])
{
    CLAIM(kind == policy.conditioner && aes == policy.aes, "the conditioner of the policy");
    window.conditioner = c;
    window.key_of = key[0];
    window.words = 0;
    for (size_t i = 1; i < DRNG_CONDITIONER_KEY_LEN; i++) {
        CLAIM(key[i] == key[0], "all of the key is of one instruction");
    }
}

void any_update(struct drng_conditioner *c, const void *data, size_t len)
{
    const uint64_t *words = data;
    const size_t count = len / sizeof(*words);
    CLAIM(c == window.conditioner, "the conditioner that was begun");
    for (size_t i = 1; i < count; i++) {
        CLAIM(words[i] == words[0], "words of one instruction");
    }
    add_to_window((uint8_t)(words[0] & 0xff), count);
}

void any_end(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    CLAIM(c == window.conditioner, "the conditioner that was begun");
    /* A block of less than a window must not be in a seed. */
    memset(out, window.words == WINDOW_WORDS ? window.words_of : FALLBACK_BYTE + 1, DRNG_CONDITIONED_LEN);
    window.conditioner = NULL;
}

static bool any_fallback(void *arg, uint8_t *out, size_t len)
{
    const bool serves = nondet_bool();
    fallback_asked++;
    memset(out, serves ? FALLBACK_BYTE : FALLBACK_BYTE + 1, len);
    return serves;
}

/* ---- A seed ---- */

static struct drng_aes aes;
static struct drng_counters counters;

static void any_policy(void)
{
    aes.fuses = nondet_bool();
    was_copied = nondet_bool();
    policy.aes = &aes;
    policy.conditioner = nondet_bool() ? DRNG_CBC_MAC : DRNG_HMAC_SHA256;
    policy.os_mixing = nondet_bool();
    policy.fallback = nondet_bool() ? any_fallback : NULL;
    policy.counters = &counters;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        instructions[i].row = &drng_instruction_rows[i];
        instructions[i].counters = &counters.instructions[i];
        policy.instructions[i] = nondet_bool() ? &instructions[i] : NULL;
        reader.noise[i].keyed = nondet_bool();
        memset(reader.noise[i].key, reader.noise[i].keyed ? tag_of(i) : 0, sizeof(reader.noise[i].key));
    }
}

static bool all_are(const uint8_t out[SEED_LEN], uint8_t byte)
{
    bool all = true;
    for (size_t i = 0; i < SEED_LEN; i++) {
        all = all && out[i] == byte;
    }
    return all;
}

void prove_seed(void)
{
    uint8_t out[SEED_LEN + 1];
    enum drng_source source;
    any_policy();
    ANY(out);
    const uint8_t behind = out[SEED_LEN];

    const enum drng_result result = drng_seed_get(&policy, &reader, out, SEED_LEN, &source);

    CLAIM(out[SEED_LEN] == behind, "nothing is written behind the seed");
    CLAIM(source == counters.source, "who served is told as it is counted");
    CLAIM(window.conditioner == NULL, "no window is left open");
    CLAIM(policy.os_mixing || kernel_asked == 0, "bytes of the kernel are added where the policy says so");
    if (result != DRNG_OK) {
        CLAIM(all_are(out, 0), "a failed seed is zero");
        CLAIM(result == (policy.fallback == NULL ? DRNG_NO_FALLBACK : DRNG_FALLBACK_FAILED), "the failure is named");
        CLAIM(counters.source == DRNG_SOURCE_NONE && counters.seed_failures == 1, "and counted");
        REACHED("no seed");
    } else if (counters.source == DRNG_SOURCE_FALLBACK) {
        CLAIM(all_are(out, FALLBACK_BYTE) && fallback_asked == 1, "all of the seed is from the fallback");
        CLAIM(kernel_asked == 0, "and nothing is added to it");
        REACHED("a seed of the fallback");
    } else {
        const unsigned i = (unsigned)(counters.source - DRNG_SOURCE_INSTRUCTION);
        CLAIM(i < DRNG_INSTRUCTIONS && policy.instructions[i] != NULL, "an instruction that may be used");
        CLAIM(all_are(out, tag_of(i)), "all of the seed is from one source");
        CLAIM(fallback_asked == 0 && counters.seeds[i] == 1, "and the source is the one that is counted");
        CLAIM(!policy.os_mixing || kernel_asked > 0, "the kernel was asked for its bytes");
        REACHED("a seed of an instruction");
    }
}

/* XOR, in turns: any seed, any bytes. */
void prove_add(void)
{
    uint8_t seed[6];
    uint8_t before[6];
    uint8_t bytes[9];
    const size_t len = at_most(6);
    const size_t bytes_len = at_most(9);
    const size_t at = nondet_size();
    ANY(seed);
    ASSUME(len > 0 && at < len);
    memcpy(before, seed, sizeof(seed));
    drng_seed_add(seed, len, bytes, bytes_len);
    uint8_t expected = before[at];
    for (size_t i = 0; i < 9; i++) {
        expected ^= i < bytes_len && i % len == at ? bytes[i] : 0;
    }
    CLAIM(seed[at] == expected, "bytes are added by XOR, and start over where they are more");
    REACHED("a sum");
}
