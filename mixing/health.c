#include "mixing/health.h"

const char *drng_health_test_name(enum drng_health_test test)
{
    switch (test) {
    case DRNG_TEST_STUCK:
        return "stuck value test";
    case DRNG_TEST_REPETITION:
        return "repetition count test";
    case DRNG_TEST_PROPORTION:
        return "adaptive proportion test";
    case DRNG_TEST_NONE:
        break;
    }
    return "no test";
}

bool drng_startup_passes(struct drng_startup *startup, uint64_t word, enum drng_health_test *failed)
{
    const unsigned bits = drng_health_suspects(word) ? 0 : 64;
    for (unsigned shift = 0; shift < bits; shift += 8) {
        const uint64_t byte = word >> shift & 0xff;
        if (!drng_rct_passes(&startup->rct, byte, DRNG_BYTE_RCT_CUTOFF)) {
            *failed = DRNG_TEST_REPETITION;
            return false;
        }
        if (!drng_apt_passes(&startup->apt, byte, DRNG_BYTE_APT_CUTOFF)) {
            *failed = DRNG_TEST_PROPORTION;
            return false;
        }
    }
    startup->words++;
    return true;
}
