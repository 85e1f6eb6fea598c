/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_entropy.h - request mixing: one word for each request, so that two copies of one state diverge at once.
 *
 * Clones of a virtual machine have the same memory, and often nothing tells them that they are clones (clone.h). They
 * do not get the same words from the hardware. The word earns no entropy credit, so it is not conditioned, and the
 * health tests, which need a reader, are too dear for it: it must not be zeros, ones or the last word again. One word
 * must do, since reading it takes most of a request's time: two clones draw the same word with a probability of 2^-64,
 * and diverge for good once they draw different ones.
 *
 * If no instruction gives a word, it is made of the kernel's bytes and of the time. Clones get the same bytes until
 * their kernels have taken in new entropy; until then they differ only in when they run, to the nanosecond.
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/noise.h"
#include "mixing/machine/eligibility.h"
#include "mixing/state/clone.h"

/* When a request takes in a fresh word. */
enum drng_request_mixing {
    DRNG_MIX_NEVER,
    DRNG_MIX_UNWATCHED, /* while no clone device is watched (clone.h) */
    DRNG_MIX_ALWAYS,
};

/* Whether a request takes in a word now. */
static inline bool drng_mixes_now(enum drng_request_mixing mixing)
{
    return mixing != DRNG_MIX_NEVER && (mixing == DRNG_MIX_ALWAYS || !drng_clone_is_watched());
}

/*
 * What `auto` means on this machine. A child of fork() that the kernel does not wipe is told apart by its words, too.
 * The clock device is the host's word: where the guest does not trust its host, the device adds reseeds, and leaves no
 * words out.
 */
enum drng_request_mixing drng_request_mixing_auto(const struct drng_cpu *cpu);

/* The instructions that may be asked, in this order, and NULL at the end. */
struct drng_request_words {
    struct drng_instruction *instructions[DRNG_INSTRUCTIONS + 1];
};

/* Those of these DRNG_INSTRUCTIONS instructions that may give words. *words is all NULL before. */
void drng_request_words_settle(struct drng_request_words *words, const struct drng_eligibility *eligibility,
                               struct drng_instruction *instructions);

/*
 * Whether an instruction gives words: it is there to be asked, not disabled, and not dry. An instruction that a CPU
 * announces may never give one, as RNDR on some hosts of Google's Axion. To ask it in vain takes longer than the
 * kernel's bytes do, so after some requests in a row it is left alone until drng_request_words_ask_again().
 */
bool drng_request_words_serve(const struct drng_request_words *words);

/* The next request asks dry instructions once more. To be called with each seed. */
void drng_request_words_ask_again(const struct drng_request_words *words);

/* Of zeros or ones is none: of good words this costs two in 2^64. */
static inline bool drng_is_word(uint64_t word, uint64_t before)
{
    return word + 1 > 1 && word != before;
}

/* What an instruction comes to that was dry, or has not given a word at once, or not a good one. */
bool drng_gives_word_late(struct drng_instruction *in, bool given, uint64_t before, uint64_t *word);

/* drng_request_entropy() of the instructions from this one on, and of the kernel. */
DRNG_MUST_CHECK enum drng_result drng_request_entropy_from(unsigned i, const struct drng_request_words *words,
                                                           bool hardware_only, uint64_t *before,
                                                           struct drng_counters *counters, uint64_t *word);

/*
 * Makes the word; without hardware_only always, if need be by a system call, which *counters counts. With it dry
 * instructions are asked, too, and may fail: DRNG_EXHAUSTED if they gave no word now, DRNG_UNAVAILABLE if none may be
 * asked any more. *before is this generator's last word of the first instruction, 0 at first. If the instruction gives
 * it again, or zeros or ones, it has stuck, and counts as dry: no health test sees that where another instruction makes
 * the seeds.
 */
DRNG_MUST_CHECK static inline enum drng_result drng_request_entropy(const struct drng_request_words *words,
                                                                    bool hardware_only, uint64_t *before,
                                                                    struct drng_counters *counters, uint64_t *word)
{
    const struct drng_instruction *first = words->instructions[0];
    const bool asked = first != NULL && !atomic_load_explicit(&first->disabled, memory_order_relaxed) &&
                       atomic_load_explicit(&first->dry, memory_order_relaxed) == 0;
    if (__builtin_expect(asked, 1)) {
        const bool given = first->row->read(word);
        if (__builtin_expect(given && drng_is_word(*word, *before), 1) ||
            drng_gives_word_late(words->instructions[0], given, *before, word)) {
            *before = *word;
            return DRNG_OK;
        }
    }
    return drng_request_entropy_from(asked ? 1 : 0, words, hardware_only, before, counters, word);
}
