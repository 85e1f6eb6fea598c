/*
 * fused_mac.h - RDRAND, health tests and AES-CBC-MAC in one loop, for the long windows of RDRAND.
 *
 * A link-time seam like cpu.h: fused_mac_x86.c is the product, and fused_mac_none.c stands in where there is no RDRAND.
 */

#ifndef DRNG_FUSED_MAC_H
#define DRNG_FUSED_MAC_H

#include <stddef.h>
#include <stdint.h>

#include "mixing/entropy/cbc_mac.h"
#include "mixing/entropy/health.h"

/*
 * RDRAND and AES-CBC-MAC fused: reads 2 * blocks words, each past `health`, into `mac`, word and MAC state
 * never leaving the registers. Each word gets at most DRNG_RDRAND_TRIES executions; *retries counts those
 * that ended with CF = 0. DRNG_EXHAUSTED and DRNG_HEALTH_FAILED leave a `mac` that is good for nothing
 * but wiping. Only where rdrand and aes are reported.
 */
DRNG_MUST_CHECK enum drng_result drng_fused_mac(struct drng_cbc_mac *mac, struct drng_health *health, size_t blocks,
                                                uint64_t *retries);

#endif
