#include "mixing/drbg/request_entropy.h"

#include <string.h>

#include "mixing/machine/clone.h"
#include "mixing/machine/os.h"
#include "mixing/memory/wipe.h"

bool drng_mixes_now(enum drng_request_mixing mixing)
{
    return mixing == DRNG_MIX_ALWAYS || (mixing == DRNG_MIX_UNWATCHED && !drng_clone_is_watched());
}

enum drng_request_mixing drng_request_mixing_auto(const struct drng_cpu *cpu, const char **reason)
{
    if (!drng_fork_kernel_wipes) {
        *reason = "this kernel does not wipe memory in a child, so every request takes in a fresh word";
        return DRNG_MIX_ALWAYS;
    }
    if (cpu->hypervisor && cpu->confidential) {
        *reason = "in a confidential guest every request takes in a fresh word";
        return DRNG_MIX_ALWAYS;
    }
    *reason = "in this virtual machine every request takes in a fresh word: let the process read /dev/vmclock0";
    return cpu->hypervisor ? DRNG_MIX_UNWATCHED : DRNG_MIX_NEVER;
}

bool drng_request_words_usable(const struct drng_request_words *words)
{
    bool usable = false;
    for (unsigned i = 0; words->instructions[i] != NULL; i++) {
        usable |= !atomic_load_explicit(&words->instructions[i]->disabled, memory_order_relaxed);
    }
    return usable;
}

/* The time is added, and not only used where the kernel has no bytes: its bytes may be the same in all clones. */
static __attribute__((noinline)) uint64_t kernel_and_time(void)
{
    uint64_t word = 0;
    (void)drng_os_random((uint8_t *)&word, sizeof(word));
    return word ^ drng_os_clock_ns();
}

enum drng_result drng_request_entropy(const struct drng_request_words *words, bool hardware_only,
                                      uint8_t out[DRNG_REQUEST_ENTROPY_LEN])
{
    uint64_t word = 0;
    bool drawn = false;
    for (unsigned i = 0; words->instructions[i] != NULL && !drawn; i++) {
        struct drng_instruction *in = words->instructions[i];
        uint64_t retries = 0;
        drawn = !atomic_load_explicit(&in->disabled, memory_order_relaxed) &&
                drng_try_word(in->row->read, in->row->tries, &retries, &word);
        if (__builtin_expect(retries > 0, 0)) {
            atomic_fetch_add_explicit(&in->counters->retries, retries, memory_order_relaxed);
        }
    }
    if (__builtin_expect(!drawn, 0)) {
        if (hardware_only) {
            return drng_request_words_usable(words) ? DRNG_EXHAUSTED : DRNG_UNAVAILABLE;
        }
        word = kernel_and_time();
    }
    memcpy(out, &word, DRNG_REQUEST_ENTROPY_LEN);
    drng_wipe(&word, sizeof(word));
    return DRNG_OK;
}
