/* SPDX-License-Identifier: Apache-2.0 */
/* Where no implementation of AES fuses reading and MAC: nothing is ever called here. */

#include "mixing/entropy/conditioner.h"

enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                const uint64_t *known, uint64_t *retries)
{
    (void)mac;
    (void)health;
    (void)blocks;
    (void)known;
    (void)retries;
    return DRNG_EXHAUSTED;
}
