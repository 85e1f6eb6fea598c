/* SPDX-License-Identifier: Apache-2.0 */
/* Names of values are those of the circuit. Its x and s are numbered from the highest bit, slices from the lowest. */

#include "mixing/aes/aes_sbox.h"

/* The linear layer on top: computes the operands of the multiplications from the input. y[0] is x7 itself. */
static inline void top_layer(uint64_t y[22], const uint64_t q[DRNG_AES_SLICES])
{
    const uint64_t x0 = q[7];
    const uint64_t x1 = q[6];
    const uint64_t x2 = q[5];
    const uint64_t x3 = q[4];
    const uint64_t x4 = q[3];
    const uint64_t x5 = q[2];
    const uint64_t x6 = q[1];
    const uint64_t x7 = q[0];
    const uint64_t t0 = x1 ^ x2;
    y[0] = x7;
    y[14] = x3 ^ x5;
    y[13] = x0 ^ x6;
    y[9] = x0 ^ x3;
    y[8] = x0 ^ x5;
    y[1] = t0 ^ x7;
    y[4] = y[1] ^ x3;
    y[12] = y[13] ^ y[14];
    y[2] = y[1] ^ x0;
    y[5] = y[1] ^ x6;
    y[3] = y[5] ^ y[8];
    const uint64_t t1 = x4 ^ y[12];
    y[15] = t1 ^ x5;
    y[20] = t1 ^ x1;
    y[6] = y[15] ^ x7;
    y[10] = y[15] ^ t0;
    y[11] = y[20] ^ y[9];
    y[7] = x7 ^ y[11];
    y[17] = y[10] ^ y[11];
    y[19] = y[10] ^ y[8];
    y[16] = t0 ^ y[11];
    y[21] = y[13] ^ y[16];
    y[18] = x0 ^ y[16];
}

/* The element of GF(2^4) whose inverse gives that of the element of GF(2^8). */
static inline void to_subfield(uint64_t t[4], const uint64_t y[22])
{
    const uint64_t t2 = y[12] & y[15];
    const uint64_t t7 = y[13] & y[16];
    const uint64_t t12 = y[9] & y[11];
    const uint64_t t14 = (y[14] & y[17]) ^ t12;
    const uint64_t t16 = (y[8] & y[10]) ^ t12;
    t[0] = (y[3] & y[6]) ^ t2 ^ t14 ^ y[20];
    t[1] = (y[4] & y[0]) ^ t2 ^ t16 ^ y[19];
    t[2] = (y[5] & y[1]) ^ t7 ^ t14 ^ y[21];
    t[3] = (y[2] & y[7]) ^ t7 ^ t16 ^ y[18];
}

/* Inversion in GF(2^4): t21 to t24 become t29, t33, t37 and t40. */
static inline void invert(uint64_t t[4])
{
    const uint64_t t21 = t[0];
    const uint64_t t22 = t[1];
    const uint64_t t23 = t[2];
    const uint64_t t24 = t[3];
    const uint64_t t25 = t21 ^ t22;
    const uint64_t t26 = t21 & t23;
    const uint64_t t27 = t24 ^ t26;
    const uint64_t t29 = (t25 & t27) ^ t22;
    const uint64_t t33 = ((t22 ^ t26) & (t23 ^ t24)) ^ t24;
    const uint64_t t36 = t24 & (t27 ^ t33);
    t[0] = t29;
    t[1] = t33;
    t[2] = t36 ^ t23 ^ t33;
    t[3] = t25 ^ (t29 & (t27 ^ t36));
}

/* Back to GF(2^8): multiplies the inverse by the values that the element was made of. */
static inline void from_subfield(uint64_t z[18], const uint64_t t[4], const uint64_t y[22])
{
    const uint64_t t29 = t[0];
    const uint64_t t33 = t[1];
    const uint64_t t37 = t[2];
    const uint64_t t40 = t[3];
    const uint64_t t41 = t40 ^ t37;
    const uint64_t t42 = t29 ^ t33;
    const uint64_t t43 = t29 ^ t40;
    const uint64_t t44 = t33 ^ t37;
    const uint64_t t45 = t42 ^ t41;
    z[0] = t44 & y[15];
    z[1] = t37 & y[6];
    z[2] = t33 & y[0];
    z[3] = t43 & y[16];
    z[4] = t40 & y[1];
    z[5] = t29 & y[7];
    z[6] = t42 & y[11];
    z[7] = t45 & y[17];
    z[8] = t41 & y[10];
    z[9] = t44 & y[12];
    z[10] = t37 & y[3];
    z[11] = t33 & y[4];
    z[12] = t43 & y[13];
    z[13] = t40 & y[5];
    z[14] = t29 & y[2];
    z[15] = t42 & y[9];
    z[16] = t45 & y[14];
    z[17] = t41 & y[8];
}

/* The linear layer at the bottom, with the affine part of the S-box. */
static inline void bottom_layer(uint64_t q[DRNG_AES_SLICES], const uint64_t z[18])
{
    const uint64_t t46 = z[15] ^ z[16];
    const uint64_t t48 = z[5] ^ z[13];
    const uint64_t t49 = z[9] ^ z[10];
    const uint64_t t53 = z[0] ^ z[3];
    const uint64_t t54 = z[6] ^ z[7];
    const uint64_t t57 = z[2] ^ z[12] ^ t53;
    const uint64_t t58 = z[4] ^ t46;
    const uint64_t t59 = z[3] ^ t54;
    const uint64_t t62 = z[7] ^ z[8] ^ t58;
    const uint64_t t63 = t49 ^ t58;
    const uint64_t t64 = z[4] ^ t59;
    const uint64_t t65 = z[14] ^ t57 ^ t62;
    const uint64_t t66 = z[1] ^ t63;
    const uint64_t s3 = t53 ^ t66;
    q[7] = t59 ^ t63;
    q[6] = ~(t64 ^ s3);
    q[5] = ~(z[16] ^ z[17] ^ t64 ^ t65);
    q[4] = s3;
    q[3] = z[2] ^ z[5] ^ t66;
    q[2] = z[10] ^ z[11] ^ t65;
    q[1] = ~(z[12] ^ t48 ^ t62);
    q[0] = ~(t48 ^ t46 ^ t57);
}

void drng_aes_sub_bytes(uint64_t q[DRNG_AES_SLICES])
{
    uint64_t y[22];
    uint64_t t[4];
    uint64_t z[18];
    top_layer(y, q);
    to_subfield(t, y);
    invert(t);
    from_subfield(z, t, y);
    bottom_layer(q, z);
}
