#include "mixing/drbg/request_entropy.h"

#include <string.h>

#include "mixing/machine/cpu.h"
#include "mixing/machine/os.h"
#include "mixing/memory/wipe.h"

static bool draw(struct drng_instruction *in, uint64_t *word)
{
    uint64_t retries = 0;
    const bool drawn = drng_try_word(in->row->read, in->row->tries, &retries, word);
    if (__builtin_expect(retries > 0, 0)) {
        atomic_fetch_add_explicit(&in->counters->retries, retries, memory_order_relaxed);
    }
    return drawn;
}

bool drng_request_entropy(struct drng_instruction *in, bool or_kernel, uint8_t out[DRNG_REQUEST_ENTROPY_LEN])
{
    uint64_t word = 0;
    const bool usable = in != NULL && !atomic_load_explicit(&in->disabled, memory_order_relaxed);
    const bool drawn = usable && draw(in, &word);

    memcpy(out, &word, DRNG_REQUEST_ENTROPY_LEN);
    drng_wipe(&word, sizeof(word));
    return drawn || (or_kernel && drng_os_random(out, DRNG_REQUEST_ENTROPY_LEN));
}
