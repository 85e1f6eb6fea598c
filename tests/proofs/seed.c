/*
 * Where a seed comes from. The instructions and the conditioner are stubs that note who was asked for what, and whose
 * words carry their source: a block is made of the words of one instruction, so its source is seen in every byte.
 */

#include <string.h>

#include "mixing/entropy/seed.h"
#include "mixing/machine/clone.h"
#include "mixing/machine/os.h"
#include "proof.h"

#ifndef SEED_LEN
#define SEED_LEN 33
#endif

enum {
    DESIGN_WORDS = 4,
    CERTIFIED_WORDS = 8,
    DESIGN_BITS = 256,
    CERTIFIED_BITS = 192,
    FALLBACK_BYTE = 0x77,
    BLOCKS = (SEED_LEN + DRNG_CONDITIONED_LEN - 1) / DRNG_CONDITIONED_LEN,
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
    {.name = "first", .starves = true, .window_words = DESIGN_WORDS, .window_bits = DESIGN_BITS},
    {.name = "second", .fused = true, .window_words = DESIGN_WORDS, .window_bits = DESIGN_BITS},
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

static size_t window_of(unsigned i)
{
    return policy.certified[i] != NULL ? CERTIFIED_WORDS : DESIGN_WORDS;
}

size_t drng_claim_window_words(const struct drng_claim *claim)
{
    CLAIM(claim != NULL, "a claim");
    return CERTIFIED_WORDS;
}

unsigned drng_claim_window_bits(const struct drng_claim *claim, size_t words)
{
    CLAIM(claim != NULL && words == CERTIFIED_WORDS, "the words of a window by certificate");
    return CERTIFIED_BITS;
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

void drng_clone_try_again(void) {}

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
    (void)budget;
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
    (void)budget;
    CLAIM(noise == &reader.noise[i] && policy.aes->fuses && drng_instruction_rows[i].fused,
          "its own reader, and a fused loop that there is");
    CLAIM(window.conditioner != NULL && mac == &window.conditioner->cbc_mac, "the conditioner that was begun");
    add_to_window(tag_of(i), 2 * blocks);
    return any_result();
}

/* May be disabled, may fail before the work, and does the work again after a failure with a reader of zeros. */
enum drng_result drng_noise_attempt(struct drng_instruction *in, struct drng_noise *noise, uint64_t budget_ns,
                                    drng_noise_work *work, void *arg)
{
    struct drng_budget budget = {0};
    const unsigned i = index_of(in);
    const uint64_t most =
        policy.certified[i] != NULL ? (uint64_t)DRNG_CERTIFIED_WORD_NS * CERTIFIED_WORDS * BLOCKS : DRNG_SOLE_BUDGET_NS;
    CLAIM(i >= asked && fallback_asked == 0, "sources are asked in the order of the policy");
    CLAIM(budget_ns >= DRNG_SEED_BUDGET_NS && (budget_ns <= DRNG_SOLE_BUDGET_NS || budget_ns <= most),
          "a source has one of the budgets");
    asked = i + 1;
    enum drng_result status = nondet_bool() ? work(arg, &budget) : DRNG_EXHAUSTED;
    if (status == DRNG_HEALTH_FAILED) {
        noise->keyed = false;
        memset(noise->key, 0, sizeof(noise->key));
        status = work(arg, &budget);
    }
    return status;
}

void drng_conditioner_begin(struct drng_conditioner *c, enum drng_conditioner_kind kind, const struct drng_aes *aes,
                            const uint8_t key[DRNG_CONDITIONER_KEY_LEN])
{
    CLAIM(window.conditioner == NULL && kind == policy.conditioner && aes == policy.aes, "one window at a time");
    window.conditioner = c;
    window.key_of = key[0];
    window.words = 0;
    for (size_t i = 1; i < DRNG_CONDITIONER_KEY_LEN; i++) {
        CLAIM(key[i] == key[0], "all of the key is of one instruction");
    }
}

void drng_conditioner_update(struct drng_conditioner *c, const uint64_t *words, size_t count)
{
    CLAIM(c == window.conditioner, "the conditioner that was begun");
    for (size_t i = 1; i < count; i++) {
        CLAIM(words[i] == words[0], "words of one instruction");
    }
    add_to_window((uint8_t)(words[0] & 0xff), count);
}

void drng_conditioner_end(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    CLAIM(c == window.conditioner && window.words == window_of(window.words_of - 1u), "a block takes a whole window");
    memset(out, window.words_of, DRNG_CONDITIONED_LEN);
    window.conditioner = NULL;
}

void drng_conditioner_drop(struct drng_conditioner *c)
{
    CLAIM(c == window.conditioner, "the conditioner that was begun");
    window.conditioner = NULL;
}

static bool any_fallback(void *arg, uint8_t *out, size_t len)
{
    (void)arg;
    const bool serves = nondet_bool();
    fallback_asked++;
    memset(out, serves ? FALLBACK_BYTE : FALLBACK_BYTE + 1, len);
    return serves;
}

/* ---- A seed ---- */

static struct drng_aes aes;
static const struct drng_claim certificate = {.maker = "any"};
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
        policy.instructions[i] = nondet_bool() ? &instructions[i] : NULL;
        policy.certified[i] = nondet_bool() ? &certificate : NULL;
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
    any_policy();
    ANY(out);
    const uint8_t behind = out[SEED_LEN];

    const enum drng_result result = drng_seed_get(&policy, &reader, out, SEED_LEN);

    CLAIM(out[SEED_LEN] == behind, "nothing is written behind the seed");
    CLAIM(window.conditioner == NULL, "no window is left open");
    CLAIM(policy.os_mixing || kernel_asked == 0, "bytes of the kernel are added where the policy says so");
    if (result != DRNG_OK) {
        CLAIM(all_are(out, 0), "a failed seed is zero");
        CLAIM(result == (policy.fallback == NULL ? DRNG_NO_FALLBACK : DRNG_FALLBACK_FAILED), "the failure is named");
        CLAIM(counters.source == DRNG_SOURCE_NONE && counters.seed_failures == 1 && counters.claimed == 0,
              "and counted");
        REACHED("no seed");
    } else if (counters.source == DRNG_SOURCE_FALLBACK) {
        CLAIM(all_are(out, FALLBACK_BYTE) && fallback_asked == 1, "all of the seed is from the fallback");
        CLAIM(kernel_asked == 0 && counters.claimed == 0, "nothing is added to it, and nothing claimed for it");
        REACHED("a seed of the fallback");
    } else {
        const unsigned i = (unsigned)(counters.source - DRNG_SOURCE_INSTRUCTION);
        CLAIM(i < DRNG_INSTRUCTIONS && policy.instructions[i] != NULL, "an instruction that may be used");
        CLAIM(all_are(out, tag_of(i)), "all of the seed is from one source");
        CLAIM(fallback_asked == 0 && counters.seeds[i] == 1, "and the source is the one that is counted");
        CLAIM(!policy.os_mixing || kernel_asked > 0, "the kernel was asked for its bytes");
        CLAIM(counters.claimed == (policy.certified[i] != NULL ? CERTIFIED_BITS : DESIGN_BITS) * (uint64_t)BLOCKS,
              "what is claimed is what its windows hold");
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
