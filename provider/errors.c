/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of errors, and the queue that they go to. */

#include "provider/errors.h"

#include <stdarg.h>

#include "mixing/machine/instruction.h"
#include "mixing/state/guard.h"
#include "provider/core.h"
#include "provider/observe/stats.h"

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
    {DRNG_R_PARAMETER,
     "a number of another type, or out of its range, in use_df, reseed_requests, reseed_time_interval or reseed_bytes"},
    {DRNG_R_PARENT_CANNOT_SEED, "the parent cannot give seeds"},
    {DRNG_R_PARENT_TOO_WEAK, "the parent's strength is too low"},
    {DRNG_R_PARENT_LOCK, "the parent cannot be locked"},
    {DRNG_R_PARENT_GAVE_NO_SEED, "the parent gave no seed"},
    {DRNG_R_RESEED_FAILED, "the generator could not be seeded, nothing was generated"},
    {DRNG_R_SEED_LENGTH, "no seed of such a length can be given"},
    {DRNG_R_OTHER_PROCESS, "made by another process"},
    {DRNG_R_HEALTH_FAILED, "an instruction failed its start-up tests and is not used any more"},
    {DRNG_R_CORE, "libcrypto lacks what drng needs"},
    {0, NULL},
};

void drng_raise_at(const struct drng_core *core, const char *file, int line, const char *function,
                   enum drng_reason reason, const char *format, ...)
{
    va_list args;
    const enum drng_inside before = drng_guard_note(DRNG_INSIDE); /* it allocates: a handler is refused meanwhile */
    if (core->new_error != NULL && core->vset_error != NULL) {
        core->new_error(core->handle);
        if (core->set_error_debug != NULL) {
            core->set_error_debug(core->handle, file, line, function);
        }
        va_start(args, format);
        core->vset_error(core->handle, (uint32_t)reason, format, args);
        va_end(args);
    }
    (void)drng_guard_note(before);
}

int drng_raise_result(const struct drng_core *core, enum drng_result result, bool drawing)
{
    /* Of the others the source of seeds has said why it gave none. */
    static const struct {
        enum drng_reason reason;
        const char *cure;
    } of[] = {
        [DRNG_OTHER_PROCESS] = {DRNG_R_OTHER_PROCESS, "draw once before you fork"},
        [DRNG_NO_MEMORY] = {DRNG_R_OUT_OF_MEMORY, NULL},
        [DRNG_SELF_TEST_FAILED] = {DRNG_R_SELF_TEST_FAILED, NULL},
        [DRNG_INSTANTIATED] = {DRNG_R_ALREADY_INSTANTIATED, "uninstantiate it first"},
        [DRNG_IN_ERROR_STATE] = {DRNG_R_ERROR_STATE, "uninstantiate it first"},
        [DRNG_BAD_LENGTH] = {DRNG_R_ENTROPY_LENGTH, NULL},
        [DRNG_INPUT_TOO_LONG] = {DRNG_R_INPUT_TOO_LONG, "max_perslen and max_adinlen say how many bytes are allowed"},
        [DRNG_STRENGTH_TOO_HIGH] = {DRNG_R_STRENGTH_TOO_HIGH,
                                    "a generator has as much as its cipher: 128, 192 or 256 bits"},
        [DRNG_PARENT_TOO_WEAK] = {DRNG_R_PARENT_TOO_WEAK, "its key is shorter than this generator's"},
    };
    const bool told = (size_t)result < sizeof(of) / sizeof(*of) && of[result].reason != 0;
    if (result == DRNG_BUSY) {
        drng_count(&drng_stats.live->counters.refused_calls);
        return 0;
    }
    if (result == DRNG_OK || (!told && !drawing)) {
        return result == DRNG_OK;
    }
    if (told && of[result].cure != NULL) {
        drng_raise(core, of[result].reason, "%s", of[result].cure);
    } else {
        drng_raise(core, told ? of[result].reason : DRNG_R_RESEED_FAILED, NULL);
    }
    return 0;
}
