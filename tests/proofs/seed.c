/*
 * Where a seed comes from. The instructions and the conditioner are stubs that note who was asked for what, and whose
 * words carry their source: a block is made of the words of one instruction, so its source is seen in every byte.
 */

#include <string.h>

#include "mixing/entropy/seed.h"
#include "mixing/machine/clone.h"
#include "mixing/machine/os.h"
#include "proof.h"

enum { MOST_SEED = 33, WINDOW = 8, FALLBACK_BYTE = 0x77 };

/* ---- Stubs ---- */

static struct drng_instruction instructions[DRNG_INSTRUCTIONS];
static struct drng_seed_reader reader;
static unsigned asked; /* how many sources so far; they are asked in this order */
static unsigned fallback_asked;
static bool fails_in_work;

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    {.name = "first", .starves = true, .window_words = WINDOW},
    {.name = "second", .fused = true, .window_words = WINDOW},
};

static uint8_t tag_of(const struct drng_instruction *instruction)
{
    return (uint8_t)(1 + (instruction - instructions));
}

void drng_cpu_clear_vectors(void) {}

uint64_t drng_os_clock_ns(void)
{
    return nondet_u64();
}

void drng_clone_try_again(void) {}

void drng_clone_let_kernel_hear(void) {}

uint64_t drng_clone_count(void)
{
    return 0;
}

bool drng_os_random(uint8_t *out, size_t len)
{
    CLAIM(len <= 256 && __CPROVER_w_ok(out, len), "bytes of the kernel go where there is room");
    return false; /* with bytes the source would not be seen; prove_os_mixing has those */
}

enum drng_result drng_noise_read(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                 uint64_t *words, size_t count)
{
    (void)budget;
    CLAIM(noise == &reader.noise[in - instructions], "an instruction has its own reader");
    for (size_t i = 0; i < count; i++) {
        words[i] = UINT64_C(0x0101010101010101) * tag_of(in);
    }
    return nondet_bool() ? DRNG_OK : nondet_bool() ? DRNG_EXHAUSTED : DRNG_HEALTH_FAILED;
}

enum drng_result drng_noise_mac(struct drng_instruction *in, struct drng_noise *noise, struct drng_budget *budget,
                                struct drng_cbc_mac *mac, size_t blocks)
{
    (void)budget;
    CLAIM(noise == &reader.noise[in - instructions] && blocks == WINDOW / 2, "a window of its own reader");
    CLAIM(mac->state[1] == tag_of(in), "the conditioner's key is of the instruction that it conditions");
    mac->state[0] = tag_of(in);
    mac->state[2] = WINDOW;
    return nondet_bool() ? DRNG_OK : nondet_bool() ? DRNG_EXHAUSTED : DRNG_HEALTH_FAILED;
}

/* May be disabled, may fail before the work, and does the work again after a failure with a reader of zeros. */
enum drng_result drng_noise_attempt(struct drng_instruction *in, struct drng_noise *noise, uint64_t budget_ns,
                                    drng_noise_work *work, void *arg)
{
    struct drng_budget budget = {0};
    const unsigned i = (unsigned)(in - instructions);
    CLAIM(i >= asked && fallback_asked == 0, "sources are asked in the order of the policy");
    CLAIM(budget_ns >= DRNG_SEED_BUDGET_NS && budget_ns <= DRNG_SOLE_BUDGET_NS, "a source has one of the budgets");
    asked = i + 1;
    enum drng_result status = nondet_bool() ? work(arg, &budget) : DRNG_EXHAUSTED;
    if (status == DRNG_HEALTH_FAILED) {
        *noise = (struct drng_noise){.keyed = false};
        status = work(arg, &budget);
    }
    return status;
}

/* state[0] is who gave the words, state[1] who gave the key, state[2] how many words. */
void drng_conditioner_begin(struct drng_conditioner *c, enum drng_conditioner_kind kind, const struct drng_aes *aes,
                            const uint8_t key[DRNG_CONDITIONER_KEY_LEN])
{
    (void)aes;
    c->kind = kind;
    memset(c->cbc_mac.state, 0, sizeof(c->cbc_mac.state));
    c->cbc_mac.state[1] = key[0];
    CLAIM(key[0] == key[15], "all of the key is of one instruction");
}

void drng_conditioner_update(struct drng_conditioner *c, const uint64_t *words, size_t count)
{
    const uint8_t tag = (uint8_t)(words[0] & 0xff);
    CLAIM(c->cbc_mac.state[2] == 0 || c->cbc_mac.state[0] == tag, "a window has words of one instruction");
    CLAIM(c->cbc_mac.state[1] == tag, "the conditioner's key is of the instruction that it conditions");
    c->cbc_mac.state[0] = tag;
    c->cbc_mac.state[2] = (uint8_t)(c->cbc_mac.state[2] + count);
}

void drng_conditioner_end(struct drng_conditioner *c, uint8_t out[DRNG_CONDITIONED_LEN])
{
    CLAIM(c->cbc_mac.state[2] == WINDOW, "a block takes a whole window");
    memset(out, c->cbc_mac.state[0], DRNG_CONDITIONED_LEN);
    drng_conditioner_drop(c);
}

void drng_conditioner_drop(struct drng_conditioner *c)
{
    memset(c->cbc_mac.state, 0, sizeof(c->cbc_mac.state));
}

static bool any_fallback(void *arg, uint8_t *out, size_t len)
{
    (void)arg;
    fallback_asked++;
    memset(out, FALLBACK_BYTE, len);
    return nondet_bool();
}

/* ---- A seed ---- */

void prove_seed(void)
{
    static const struct drng_aes aes_that_fuses = {.fuses = true};
    static const struct drng_aes aes_that_does_not = {.fuses = false};
    static struct drng_counters counters;
    struct drng_seed_policy policy = {.aes = nondet_bool() ? &aes_that_fuses : &aes_that_does_not,
                                      .conditioner = nondet_bool() ? DRNG_CBC_MAC : DRNG_HMAC_SHA256,
                                      .os_mixing = nondet_bool(),
                                      .fallback = nondet_bool() ? any_fallback : NULL,
                                      .counters = &counters};
    uint8_t out[MOST_SEED + 1];
    const size_t len = at_most(MOST_SEED);
    ASSUME(len > 0);
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        instructions[i].row = &drng_instruction_rows[i];
        policy.instructions[i] = nondet_bool() ? &instructions[i] : NULL;
        reader.noise[i].keyed = nondet_bool();
        memset(reader.noise[i].key, (int)(i + 1), sizeof(reader.noise[i].key));
        if (!reader.noise[i].keyed) {
            memset(reader.noise[i].key, 0, sizeof(reader.noise[i].key));
        }
    }
    const uint8_t behind = out[len];
    const size_t at = nondet_size();
    ASSUME(at < len);

    const enum drng_result result = drng_seed_get(&policy, &reader, out, len);

    CLAIM(out[len] == behind, "nothing is written behind the seed");
    if (result != DRNG_OK) {
        CLAIM(out[at] == 0, "a failed seed is zero");
        CLAIM(result == (policy.fallback == NULL ? DRNG_NO_FALLBACK : DRNG_FALLBACK_FAILED), "the failure is named");
        CLAIM(counters.source == DRNG_SOURCE_NONE && counters.seed_failures == 1, "and counted");
        REACHED("no seed");
    } else if (counters.source == DRNG_SOURCE_FALLBACK) {
        CLAIM(out[at] == FALLBACK_BYTE && fallback_asked == 1, "all of the seed is from the fallback");
        REACHED("a seed of the fallback");
    } else {
        const unsigned i = (unsigned)(counters.source - DRNG_SOURCE_INSTRUCTION);
        CLAIM(i < DRNG_INSTRUCTIONS && policy.instructions[i] != NULL, "an instruction that may be used");
        CLAIM(out[at] == i + 1, "all of the seed is from one source");
        CLAIM(fallback_asked == 0 && counters.seeds[i] == 1, "and the source is the one that is counted");
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
