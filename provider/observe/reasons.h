/* reasons.h - why an instruction does not serve, as a text for the operator. */

#ifndef DRNG_REASONS_H
#define DRNG_REASONS_H

#include "mixing/machine/eligibility.h"
#include "provider/observe/stats.h"

enum { DRNG_WHY_SIZE = 2 * DRNG_TEXT_SIZE };

/* Lists each instruction that does not serve, and why: not allowed, or disabled. "" if all serve. */
void drng_reasons_disabled(const struct drng_eligibility *eligibility, char text[DRNG_TEXT_SIZE]);

/* Why no instruction served: the same, and the instructions that returned no words. */
void drng_reasons_unserved(const struct drng_eligibility *eligibility, char text[DRNG_WHY_SIZE]);

#endif
