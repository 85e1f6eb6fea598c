/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes_sbox.h - SubBytes (FIPS 197, 5.1.1) as a circuit of gates, on bits that lie in slices.
 *
 * The circuit is that of Boyar and Peralta ("A small depth-16 circuit for the AES S-box", 2011) in its form with 113
 * gates, 32 of them ANDs: inversion in GF(2^8) by that in GF(2^4), between two linear layers.
 */

#pragma once

#include <stdint.h>

enum { DRNG_AES_SLICES = 8 };

/*
 * SubBytes on 64 bytes: slice i holds bit i of each, in any order of bytes. Not inlined, since its hundred values leave
 * no register for the caller's. The caller wipes its frame.
 */
void drng_aes_sub_bytes(uint64_t q[DRNG_AES_SLICES]);
