#include "mixing/machine/claim.h"

#include <string.h>

enum { FULL_ENTROPY_MILLIBITS = (128 + 64) * 1000 };

static bool is_listed(const struct drng_listed_part *parts, const struct drng_cpu *cpu)
{
    bool listed = parts == NULL;
    for (; parts != NULL && parts->family != 0; parts++) {
        const bool of_model = parts->model == DRNG_EVERY_MODEL || parts->model == cpu->model;
        const bool of_stepping = parts->steppings == 0 || (parts->steppings >> cpu->stepping & 1) != 0;
        listed |= parts->family == cpu->family && of_model && of_stepping;
    }
    return listed;
}

static bool matches(const struct drng_claim *claim, const struct drng_cpu *cpu)
{
    const bool of_maker = claim->vendor == NULL || strcmp(claim->vendor, cpu->vendor) == 0;
    return of_maker && is_listed(claim->parts, cpu);
}

const struct drng_claim *drng_claim_find(const struct drng_cpu *cpu, unsigned instruction)
{
    for (const struct drng_claim *claim = drng_claims; claim->maker != NULL; claim++) {
        if (claim->instruction == instruction && matches(claim, cpu)) {
            return claim;
        }
    }
    return NULL;
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

size_t drng_claim_window_words(const struct drng_claim *claim)
{
    if (claim == NULL || claim->certified_millibits == 0) {
        return 0;
    }
    const size_t by_design = drng_instruction_rows[claim->instruction].window_words;
    const size_t needed = (FULL_ENTROPY_MILLIBITS + claim->certified_millibits - 1) / claim->certified_millibits;
    const size_t words = round_up(needed, DRNG_WINDOW_UNIT);
    return words > by_design ? words : by_design;
}

unsigned drng_claim_window_bits(const struct drng_claim *claim, size_t words)
{
    return claim != NULL ? (unsigned)(words * claim->certified_millibits / 1000) : 0;
}
