/* Conditioned seeds for generators of the program's own: drng_conditioned_seed(). */

#include <string.h>

#include "mixing/library/machine.h"
#include "mixing/library/source.h"

static struct drng_seed_info info_of(enum drng_source source, enum drng_conditioning conditioning)
{
    struct drng_seed_info info = {.source = drng_source_name(source), .conditioner = "none"};
    info.grade = drng_source_grade(source);
    if (info.grade == DRNG_GRADE_SEED || info.grade == DRNG_GRADE_GENERATOR) {
        info.conditioner = conditioning == DRNG_BY_CBC_MAC ? "AES-128-CBC-MAC" : "HMAC-SHA-256";
        const struct drng_instruction_row *row = &drng_instruction_rows[source - DRNG_SOURCE_INSTRUCTION];
        info.raw_words = (unsigned)row->window_words;
        info.claimed_bits = row->window_bits;
    }
    return info;
}

static int take(uint8_t *seed, size_t len, enum drng_choice choice, enum drng_conditioning conditioning,
                enum drng_source *source)
{
    struct drng_counters counters = {0};
    int error = drng_library_open();
    if (error != DRNG_SUCCESS) {
        memset(seed, 0, len);
        return error;
    }
    const struct drng_seed_policy policy = drng_source_policy(choice, conditioning, &counters);
    drng_source_runner *const run = drng_library_enter() ? drng_library_run : drng_library_run_apart;
    error = drng_source_fill(&policy, run, seed, len, source);
    drng_library_leave();
    return error;
}

int drng_conditioned_seed(void *seed, size_t len, enum drng_choice choice, enum drng_conditioning conditioning,
                          struct drng_seed_info *info)
{
    enum drng_source source = DRNG_SOURCE_NONE;
    int error = DRNG_SUCCESS;
    if (len > PTRDIFF_MAX || (seed == NULL && len > 0) || !drng_source_choice_exists(choice) ||
        !drng_source_conditioning_exists(conditioning)) {
        return DRNG_E_ARGUMENT;
    }
    if (len > 0) {
        error = take(seed, len, choice, conditioning, &source);
    }
    if (info != NULL) {
        *info = info_of(error == DRNG_SUCCESS ? source : DRNG_SOURCE_NONE, conditioning);
    }
    return error;
}
