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

/* Each reason, and the text that libcrypto has for it. Their numbers begin with 1. */
#define DRNG_EACH_REASON(REASON)                                                                                       \
    REASON(DRNG_R_CONFIG_VALUE, "configuration value not allowed")                                                     \
    REASON(DRNG_R_SELF_TEST_FAILED, "self-test failed, nothing is served")                                             \
    REASON(DRNG_R_OUT_OF_MEMORY, "out of memory")                                                                      \
    REASON(DRNG_R_NO_SEED_SOURCE, "no instruction can seed and fallback = no")                                         \
    REASON(DRNG_R_FALLBACK_FAILED, "no instruction can seed and the default seed source failed")                       \
    REASON(DRNG_R_RDRAND_UNAVAILABLE, DRNG_WORDS_NAME " may not be used")                                              \
    REASON(DRNG_R_RDRAND_FAILED, DRNG_WORDS_NAME " gave no usable words")                                              \
    REASON(DRNG_R_SEED_SOURCE_WITH_PARENT, "a seed source has no parent")                                              \
    REASON(DRNG_R_NOT_INSTANTIATED, "not instantiated")                                                                \
    REASON(DRNG_R_ALREADY_INSTANTIATED, "already instantiated")                                                        \
    REASON(DRNG_R_ERROR_STATE, "in error state")                                                                       \
    REASON(DRNG_R_STRENGTH_TOO_HIGH, "more strength asked for than the generator has")                                 \
    REASON(DRNG_R_REQUEST_TOO_LONG, "request too long")                                                                \
    REASON(DRNG_R_INPUT_TOO_LONG, "personalization string or additional input too long")                               \
    REASON(DRNG_R_ENTROPY_LENGTH, "entropy input of the wrong length")                                                 \
    REASON(DRNG_R_CIPHER, "cipher not supported")                                                                      \
    REASON(DRNG_R_PARAMETER, "a number of another type, or out of its range, in use_df, reseed_requests, "             \
                             "reseed_time_interval or reseed_bytes")                                                   \
    REASON(DRNG_R_PARENT_CANNOT_SEED, "the parent cannot give seeds")                                                  \
    REASON(DRNG_R_PARENT_TOO_WEAK, "the parent's strength is too low")                                                 \
    REASON(DRNG_R_PARENT_LOCK, "the parent cannot be locked")                                                          \
    REASON(DRNG_R_PARENT_GAVE_NO_SEED, "the parent gave no seed")                                                      \
    REASON(DRNG_R_RESEED_FAILED, "the generator could not be seeded, nothing was generated")                           \
    REASON(DRNG_R_SEED_LENGTH, "no seed of such a length can be given")                                                \
    REASON(DRNG_R_OTHER_PROCESS, "made by another process")                                                            \
    REASON(DRNG_R_HEALTH_FAILED, "an instruction failed its start-up tests and is not used any more")                  \
    REASON(DRNG_R_CORE, "libcrypto lacks what drng needs")

#define DRNG_REASON(reason, text) reason,

enum drng_reason { DRNG_R_NONE, DRNG_EACH_REASON(DRNG_REASON) };

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
