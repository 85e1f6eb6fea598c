/*
 * fused_mac.h - RDRAND, health tests and AES-CBC-MAC in one loop, for the long windows of RDRAND.
 *
 * A link-time seam like cpu.h: the product links fused_mac_x86.c, or fused_mac_none.c on processors without RDRAND.
 */

#ifndef DRNG_FUSED_MAC_H
#define DRNG_FUSED_MAC_H

#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/conditioner.h"
#include "mixing/entropy/health.h"

/*
 * Reads 2 * blocks words, tests each with `health`, and adds them to `mac`. Words and MAC state never leave the
 * registers. Each word takes at most DRNG_RDRAND_TRIES executions; those that ended with CF = 0 are added to *retries.
 * After DRNG_EXHAUSTED or DRNG_HEALTH_FAILED `mac` is invalid, and only to be wiped. To be called only if the CPU has
 * RDRAND and AES-NI.
 */
DRNG_MUST_CHECK enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                                uint64_t *retries);

#endif
