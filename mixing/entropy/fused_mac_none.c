/* SPDX-License-Identifier: Apache-2.0 */
/* Where no implementation of AES fuses reading and MAC: nothing is ever called here. */

#include "mixing/entropy/conditioner.h"

enum drng_result drng_fused_mac(DRNG_UNUSED struct drng_cbc_mac *mac, DRNG_UNUSED struct drng_health *health,
                                DRNG_UNUSED size_t blocks, DRNG_UNUSED const uint64_t *known,
                                DRNG_UNUSED uint64_t *retries)
{
    return DRNG_EXHAUSTED;
}
