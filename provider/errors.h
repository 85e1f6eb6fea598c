/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.h - what drng says: errors in libcrypto's queue.
 *
 * The reason of an error says what happened. Its data gives details, and says what to do.
 */

#pragma once

#include <stdbool.h>

#include <openssl/core.h>

#include "mixing/result.h"

struct drng_core;

enum drng_reason {
    DRNG_R_CONFIG_VALUE = 1,
    DRNG_R_SELF_TEST_FAILED,
    DRNG_R_OUT_OF_MEMORY,
    DRNG_R_NO_SEED_SOURCE,
    DRNG_R_FALLBACK_FAILED,
    DRNG_R_RDRAND_UNAVAILABLE,
    DRNG_R_RDRAND_FAILED,
    DRNG_R_SEED_SOURCE_WITH_PARENT,
    DRNG_R_NOT_INSTANTIATED,
    DRNG_R_ALREADY_INSTANTIATED,
    DRNG_R_ERROR_STATE,
    DRNG_R_STRENGTH_TOO_HIGH,
    DRNG_R_REQUEST_TOO_LONG,
    DRNG_R_INPUT_TOO_LONG,
    DRNG_R_ENTROPY_LENGTH,
    DRNG_R_CIPHER,
    DRNG_R_PARAMETER,
    DRNG_R_PARENT_CANNOT_SEED,
    DRNG_R_PARENT_TOO_WEAK,
    DRNG_R_PARENT_LOCK,
    DRNG_R_PARENT_GAVE_NO_SEED,
    DRNG_R_RESEED_FAILED,
    DRNG_R_SEED_LENGTH,
    DRNG_R_OTHER_PROCESS,
    DRNG_R_HEALTH_FAILED,
    DRNG_R_CORE,
};

/* The table for OSSL_FUNC_PROVIDER_GET_REASON_STRINGS. */
extern const OSSL_ITEM drng_reason_strings[];

/* Raises one error. `format` and its arguments are the error's data; NULL for none. */
void drng_raise_at(const struct drng_core *core, const char *file, int line, const char *function,
                   enum drng_reason reason, const char *format, ...) __attribute__((format(printf, 6, 7)));

#define drng_raise(core, reason, ...) drng_raise_at((core), __FILE__, __LINE__, __func__, (reason), __VA_ARGS__)

/*
 * Raises the error that belongs to a generator's result. Where the source of its seeds has raised one, another one is
 * added only if random bytes were asked for (`drawing`). A call that was refused (DRNG_BUSY) is counted instead.
 * Returns 1 for DRNG_OK, or 0.
 */
int drng_raise_result(const struct drng_core *core, enum drng_result result, bool drawing);
