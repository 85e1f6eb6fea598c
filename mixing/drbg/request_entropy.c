#include "mixing/drbg/request_entropy.h"

#include <string.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"
#include "mixing/memory/wipe.h"

static bool is_usable(const struct drng_instruction *in)
{
    return !atomic_load_explicit(&in->disabled, memory_order_relaxed);
}

static bool draw(struct drng_instruction *in, uint64_t *word)
{
    uint64_t retries = 0;
    const bool drawn = drng_try_word(in->row->read, in->row->tries, &retries, word);
    if (__builtin_expect(retries > 0, 0)) {
        atomic_fetch_add_explicit(&in->counters->retries, retries, memory_order_relaxed);
    }
    return drawn;
}

/* The time is added, and not only used where the kernel has no bytes: its bytes may be the same in all clones. */
static __attribute__((noinline)) uint64_t kernel_and_time(void)
{
    uint64_t word = 0;
    (void)drng_os_random((uint8_t *)&word, sizeof(word));
    return word ^ drng_os_clock_ns();
}

bool drng_request_words_usable(const struct drng_request_words *words)
{
    bool usable = false;
    for (unsigned i = 0; words->instructions[i] != NULL; i++) {
        usable |= is_usable(words->instructions[i]);
    }
    return usable;
}

static bool draw_from_any(const struct drng_request_words *words, uint64_t *word)
{
    bool drawn = false;
    for (unsigned i = 0; words->instructions[i] != NULL && !drawn; i++) {
        drawn = is_usable(words->instructions[i]) && draw(words->instructions[i], word);
    }
    return drawn;
}

bool drng_request_entropy_by_hardware(const struct drng_request_words *words, uint8_t out[DRNG_REQUEST_ENTROPY_LEN])
{
    uint64_t word = 0;
    const bool drawn = draw_from_any(words, &word);
    if (drawn) {
        memcpy(out, &word, DRNG_REQUEST_ENTROPY_LEN);
    }
    drng_wipe(&word, sizeof(word));
    return drawn;
}

void drng_request_entropy(const struct drng_request_words *words, uint8_t out[DRNG_REQUEST_ENTROPY_LEN])
{
    uint64_t word = 0;
    if (__builtin_expect(!draw_from_any(words, &word), 0)) {
        word = kernel_and_time();
    }
    memcpy(out, &word, DRNG_REQUEST_ENTROPY_LEN);
    drng_wipe(&word, sizeof(word));
}
