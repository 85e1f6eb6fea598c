#include "provider/errors.h"

#include <stdarg.h>

#include "mixing/machine/instruction.h"
#include "provider/core.h"

const OSSL_ITEM drng_reason_strings[] = {
    {DRNG_R_CONFIG_VALUE, "configuration value not allowed"},
    {DRNG_R_SELF_TEST_FAILED, "self-test failed, nothing is served"},
    {DRNG_R_OUT_OF_MEMORY, "out of memory"},
    {DRNG_R_NO_SEED_SOURCE, "no instruction can seed and fallback = no"},
    {DRNG_R_FALLBACK_FAILED, "no instruction can seed and the default seed source failed"},
    {DRNG_R_RDRAND_UNAVAILABLE, DRNG_WORDS_NAME " may not be used"},
    {DRNG_R_RDRAND_FAILED, DRNG_WORDS_NAME " gave no usable words"},
    {DRNG_R_SEED_SOURCE_WITH_PARENT, "a seed source has no parent"},
    {DRNG_R_NOT_INSTANTIATED, "not instantiated"},
    {DRNG_R_ALREADY_INSTANTIATED, "already instantiated"},
    {DRNG_R_ERROR_STATE, "in error state"},
    {DRNG_R_STRENGTH_TOO_HIGH, "more strength asked for than the generator has"},
    {DRNG_R_REQUEST_TOO_LONG, "request too long"},
    {DRNG_R_INPUT_TOO_LONG, "personalization string or additional input too long"},
    {DRNG_R_ENTROPY_LENGTH, "entropy input of the wrong length"},
    {DRNG_R_CIPHER, "cipher not supported"},
    {DRNG_R_PARENT_CANNOT_SEED, "the parent cannot give seeds"},
    {DRNG_R_PARENT_TOO_WEAK, "the parent's strength is too low"},
    {DRNG_R_PARENT_LOCK, "the parent cannot be locked"},
    {DRNG_R_PARENT_GAVE_NO_SEED, "the parent gave no seed"},
    {DRNG_R_RESEED_FAILED, "a reseed was due and failed, nothing was generated"},
    {DRNG_R_SEED_LENGTH, "no seed of such a length can be given"},
    {DRNG_R_BUSY, "in the middle of another request of the same thread"},
    {DRNG_R_CORE, "libcrypto lacks what drng needs"},
    {0, NULL},
};

void drng_raise_at(const struct drng_core *core, const char *file, int line, const char *function,
                   enum drng_reason reason, const char *format, ...)
{
    if (core->new_error == NULL || core->vset_error == NULL) {
        return;
    }
    core->new_error(core->handle);
    if (core->set_error_debug != NULL) {
        core->set_error_debug(core->handle, file, line, function);
    }
    va_list args;
    va_start(args, format);
    core->vset_error(core->handle, (uint32_t)reason, format, args);
    va_end(args);
}
