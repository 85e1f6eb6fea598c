/* source.h - conditioned seeds for libdrng, under a choice of sources. */

#ifndef DRNG_LIBRARY_SOURCE_H
#define DRNG_LIBRARY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/shared_reader.h"
#include "mixing/library/drng.h"

/* Whether there is such a choice, and such a conditioner. */
bool drng_source_choice_exists(enum drng_choice choice);
bool drng_source_conditioning_exists(enum drng_conditioning conditioning);

/* The policy of a choice. It counts in *counters, which must live as long as the policy. After drng_library_open(). */
struct drng_seed_policy drng_source_policy(enum drng_choice choice, enum drng_conditioning conditioning,
                                           struct drng_counters *counters);

/* drng_library_run() or drng_library_run_apart(). */
typedef enum drng_result drng_source_runner(drng_reader_work *work, void *arg);

/*
 * Fills out[0..len), or sets it to zero and says why by one of drng.h's errors. *source is the weakest that served a
 * part of it.
 */
DRNG_MUST_CHECK int drng_source_fill(const struct drng_seed_policy *policy, drng_source_runner *run, uint8_t *out,
                                     size_t len, enum drng_source *source);

/* The source for a person: "RDSEED", "getrandom", "none". */
const char *drng_source_name(enum drng_source source);
enum drng_grade drng_source_grade(enum drng_source source);

/*
 * Writes why the sources better than `source` do not serve, "RDSEED: not in this CPU; RDRAND: ...", cut at `size` bytes
 * with the NUL.
 */
void drng_source_reasons(enum drng_choice choice, enum drng_source source, char *text, size_t size);

#endif
