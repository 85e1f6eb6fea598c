/* SPDX-License-Identifier: Apache-2.0 */
/* hex.h - hexadecimal digits to bytes. */

#ifndef DRNG_HEX_H
#define DRNG_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes text[0..digits) into out, of which at most `capacity` bytes are written. False: an odd number of digits,
 * something that is no digit, or more than fits.
 */
bool hex_decode(const char *text, size_t digits, uint8_t *out, size_t capacity, size_t *len);

#endif
