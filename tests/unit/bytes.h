/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - makes and checks bytes in tests. */

#ifndef DRNG_BYTES_H
#define DRNG_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills out from a fixed generator (SplitMix64): the same state gives the same bytes, on every machine. */
void bytes_random(uint64_t *state, void *out, size_t len);

/* Whether data[0..len) are all `value`. */
bool bytes_are(const void *data, size_t len, uint8_t value);

/* Decodes a string of hexadecimal digits, and asserts that it fills out exactly. */
void bytes_from_hex(const char *hex, uint8_t *out, size_t len);

#endif
