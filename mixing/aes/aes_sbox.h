/*
 * aes_sbox.h - SubBytes (FIPS 197, 5.1.1) as a circuit of gates, on bits that lie in slices.
 *
 * The circuit is that of Boyar and Peralta ("A small depth-16 circuit for the AES S-box", 2011) in its form with 113
 * gates, 32 of them ANDs: inversion in GF(2^8) by that in GF(2^4), between two linear layers.
 */

#ifndef DRNG_AES_SBOX_H
#define DRNG_AES_SBOX_H

#include <stdint.h>

enum { DRNG_AES_SLICES = 8 };

/*
 * Slice i has bit i of each of 64 bytes, wherever each has its place. Not inlined: a hundred values at once leave no
 * register to anything else. Its frame is its caller's to wipe.
 */
void drng_aes_sub_bytes(uint64_t q[DRNG_AES_SLICES]);

#endif
