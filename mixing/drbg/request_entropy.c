#include "mixing/drbg/request_entropy.h"

#include <string.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"
#include "mixing/memory/wipe.h"

static bool draw(struct drng_instruction *rdrand, uint64_t *word)
{
    for (int tries = 0; tries < DRNG_RDRAND_TRIES; tries++) {
        if (rdrand->read(word)) {
            return true;
        }
        drng_count(&rdrand->counters->retries);
        drng_cpu_pause();
    }
    return false;
}

bool drng_request_entropy(struct drng_instruction *rdrand, bool or_kernel, uint8_t out[DRNG_REQUEST_ENTROPY_LEN])
{
    uint64_t word = 0;
    const bool usable = rdrand != NULL && !atomic_load_explicit(&rdrand->disabled, memory_order_relaxed);
    const bool drawn = usable && draw(rdrand, &word);

    memcpy(out, &word, DRNG_REQUEST_ENTROPY_LEN);
    drng_wipe(&word, sizeof(word));
    return drawn || (or_kernel && drng_os_random(out, DRNG_REQUEST_ENTROPY_LEN));
}
