/* SPDX-License-Identifier: Apache-2.0 */
/* The word of a request: of the first instruction that gives one, else of the kernel and the time. */

#include "mixing/drbg/request_entropy.h"

#include "mixing/machine/os.h"
#include "mixing/machine/wipe.h"

enum drng_request_mixing drng_request_mixing_auto(const struct drng_cpu *cpu)
{
    if (!drng_fork_kernel_wipes || (cpu->hypervisor && cpu->confidential)) {
        return DRNG_MIX_ALWAYS;
    }
    return cpu->hypervisor ? DRNG_MIX_UNWATCHED : DRNG_MIX_NEVER;
}

/* DRNG_WORDS_INSTRUCTION comes first, since it gives words fastest. */
void drng_request_words_settle(struct drng_request_words *words, const struct drng_eligibility *eligibility,
                               struct drng_instruction *instructions)
{
    unsigned count = 0;
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const unsigned instruction = (DRNG_WORDS_INSTRUCTION + i) % DRNG_INSTRUCTIONS;
        if (eligibility->words[instruction] == DRNG_ALLOWED) {
            words->instructions[count++] = &instructions[instruction];
        }
    }
}

/*
 * A request in vain costs about as much as two of the kernel's, so this many cost about as much as a seed; and RDSEED,
 * which may fail on most tries while others ask it, too, fails seldom so often in a row.
 */
enum { MOST_DRY = 64 };

bool drng_request_words_serve(const struct drng_request_words *words)
{
    bool serve = false;
    for (unsigned i = 0; words->instructions[i] != NULL; i++) {
        const struct drng_instruction *in = words->instructions[i];
        serve |= !atomic_load_explicit(&in->disabled, memory_order_relaxed) &&
                 atomic_load_explicit(&in->dry, memory_order_relaxed) < MOST_DRY;
    }
    return serve;
}

void drng_request_words_ask_again(const struct drng_request_words *words)
{
    for (unsigned i = 0; words->instructions[i] != NULL; i++) {
        atomic_store_explicit(&words->instructions[i]->left_alone, false, memory_order_relaxed);
    }
}

/* The time is added, and not only used where the kernel has no bytes: its bytes may be the same in all clones. */
static __attribute__((noinline)) uint64_t kernel_and_time(void)
{
    uint64_t word = 0;
    (void)drng_os_random((uint8_t *)&word, sizeof(word));
    const uint64_t mixed = word ^ drng_os_clock_ns();
    drng_wipe(&word, sizeof(word));
    return mixed;
}

__attribute__((cold)) bool drng_gives_word_late(struct drng_instruction *in, bool given, uint64_t before,
                                                uint64_t *word)
{
    const unsigned dry = atomic_load_explicit(&in->dry, memory_order_relaxed);
    uint64_t retries = given ? 0 : 1;
    given = (given || drng_try_word(in->row->read, in->row->tries - 1, &retries, word)) && drng_is_word(*word, before);
    const unsigned now = given ? 0 : dry + (dry < MOST_DRY);
    atomic_fetch_add_explicit(&in->counters->retries, retries, memory_order_relaxed);
    atomic_store_explicit(&in->dry, now, memory_order_relaxed);
    atomic_store_explicit(&in->left_alone, now == MOST_DRY, memory_order_relaxed);
    return given;
}

/* A dry one may be left alone. */
static bool is_asked(const struct drng_instruction *in, bool asks_dry)
{
    return !atomic_load_explicit(&in->disabled, memory_order_relaxed) &&
           (asks_dry || !atomic_load_explicit(&in->left_alone, memory_order_relaxed));
}

__attribute__((cold)) enum drng_result drng_request_entropy_from(unsigned i, const struct drng_request_words *words,
                                                                 bool hardware_only, uint64_t *before,
                                                                 struct drng_counters *counters, uint64_t *word)
{
    bool asked = i > 0;
    for (; words->instructions[i] != NULL; i++) {
        struct drng_instruction *in = words->instructions[i];
        const uint64_t last = i == 0 ? *before : 0;
        const bool is = is_asked(in, hardware_only);
        if (is && drng_gives_word_late(in, in->row->read(word), last, word)) {
            *before = i == 0 ? *word : *before;
            return DRNG_OK;
        }
        asked |= is;
    }
    if (hardware_only) {
        return asked ? DRNG_EXHAUSTED : DRNG_UNAVAILABLE;
    }
    *word = kernel_and_time();
    drng_count(&counters->kernel_requests);
    return DRNG_OK;
}
