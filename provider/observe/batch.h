/* batch.h - whether `batch = yes` is in force, and why it is not, for the operator. */

#ifndef DRNG_OBSERVE_BATCH_H
#define DRNG_OBSERVE_BATCH_H

#include "provider/provctx.h"

/* Whether short requests are served out of a store now, as far as there is memory for it. */
bool drng_batch_is_on(const struct drng_provctx *provctx);

/* Why requests are not batched although the configuration says so; "" otherwise. */
const char *drng_batch_off_reason(const struct drng_provctx *provctx);

#endif
