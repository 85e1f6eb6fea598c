/* claims.h - how the words of an instruction are counted, and whose claim that is, for the operator. */

#ifndef DRNG_CLAIMS_H
#define DRNG_CLAIMS_H

#include "provider/observe/stats.h"
#include "provider/provctx.h"

/* The value of the key `claim`: "design" or "certified". */
const char *drng_claims_name(const struct drng_provctx *provctx);

/* What is claimed for the words of the source that is asked first for a seed, and where the claim is from. */
void drng_claims_source(const struct drng_provctx *provctx, enum drng_source first, char text[DRNG_CLAIM_TEXT_SIZE]);

#endif
