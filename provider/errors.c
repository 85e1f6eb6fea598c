/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of errors, and the queue that they go to. */

#include "provider/errors.h"

#include <stdarg.h>

#include "mixing/machine/instruction.h"
#include "mixing/state/guard.h"
#include "provider/core.h"
#include "provider/observe/stats.h"

#define ITEM(reason, text) {reason, text},

const OSSL_ITEM drng_reason_strings[] = {DRNG_EACH_REASON(ITEM){0, NULL}};

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
    if (result == DRNG_OK) {
        return 1;
    }
    if (result == DRNG_BUSY) {
        drng_count(&drng_stats.live->counters.refused_calls);
    } else if (told && of[result].cure != NULL) {
        drng_raise(core, of[result].reason, "%s", of[result].cure);
    } else if (told || drawing) {
        drng_raise(core, told ? of[result].reason : DRNG_R_RESEED_FAILED, NULL);
    }
    return 0;
}
