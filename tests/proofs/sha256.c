/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 beside FIPS 180-4. The functions of one round are compared for all inputs; that 64 of
 * them are composed as the standard has it is compared with its own example, and by the tests.
 */

#include <string.h>

#include "mixing/entropy/hmac.c"
#include "proof.h"

/* ---- FIPS 180-4, 4.1.2 and 6.2.2, as printed ---- */

static uint32_t model_rotr(unsigned n, uint32_t x)
{
    return (x >> n) | (x << (32 - n));
}

static uint32_t model_ch(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (~x & z);
}

static uint32_t model_maj(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (x & z) ^ (y & z);
}

static uint32_t model_sum_0(uint32_t x)
{
    return model_rotr(2, x) ^ model_rotr(13, x) ^ model_rotr(22, x);
}

static uint32_t model_sum_1(uint32_t x)
{
    return model_rotr(6, x) ^ model_rotr(11, x) ^ model_rotr(25, x);
}

static uint32_t model_sigma_0(uint32_t x)
{
    return model_rotr(7, x) ^ model_rotr(18, x) ^ (x >> 3);
}

static uint32_t model_sigma_1(uint32_t x)
{
    return model_rotr(17, x) ^ model_rotr(19, x) ^ (x >> 10);
}

/* 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static uint32_t cube_root_bits(uint32_t prime)
{
    /* The largest r with r^3 <= prime * 2^96, so that r = floor(cbrt(prime) * 2^32). */
    u128 low = 0;
    u128 high = (u128)8 << 32;
    while (high - low > 1) {
        const u128 r = (low + high) / 2;
        /* r < 2^35, so r^3 < 2^105. */
        if (r * r * r <= (u128)prime << 96) {
            low = r;
        } else {
            high = r;
        }
    }
    return (uint32_t)low;
}

void prove_constants(void)
{
    unsigned found = 0;
    for (uint32_t n = 2; found < 64; n++) {
        bool prime = true;
        for (uint32_t d = 2; d < n; d++) {
            prime = prime && n % d != 0;
        }
        if (prime) {
            CLAIM(k[found] == cube_root_bits(n), "K is the standard's");
            found++;
        }
    }
    REACHED("64 constants");
}

/* ---- One round ---- */

void prove_round(void)
{
    uint32_t s[8];
    ANY(s);
    const uint32_t a = s[0];
    const uint32_t b = s[1];
    const uint32_t c = s[2];
    const uint32_t d = s[3];
    const uint32_t e = s[4];
    const uint32_t f = s[5];
    const uint32_t g = s[6];
    const uint32_t h = s[7];
    const uint32_t k_and_w = nondet_u32();

    make_round(s[0], s[1], s[2], &s[3], s[4], s[5], s[6], &s[7], k_and_w);

    const uint32_t t1 = h + model_sum_1(e) + model_ch(e, f, g) + k_and_w;
    const uint32_t t2 = model_sum_0(a) + model_maj(a, b, c);
    CLAIM(s[7] == t1 + t2 && s[3] == d + t1, "6.2.2, step 3: a = T1 + T2, e = d + T1");
    CLAIM(s[0] == a && s[1] == b && s[2] == c && s[4] == e && s[5] == f && s[6] == g,
          "the other values move on by a letter");
    REACHED("a round");
}

#ifndef PLACE
#define PLACE 0
#endif

/* 6.2.2, step 1. A run of the prover for each place of W_t. */
void prove_schedule(void)
{
    uint32_t w[WORDS];
    uint32_t before[WORDS];
    ANY(w);
    memcpy(before, w, sizeof(w));
    const unsigned t = 16 + PLACE; /* only t mod 16 counts */
    const uint32_t word = next_word(w, t);
    CLAIM(word == model_sigma_1(before[(t - 2) % 16]) + before[(t - 7) % 16] + model_sigma_0(before[(t - 15) % 16]) +
                      before[(t - 16) % 16],
          "W_t is the standard's");
    CLAIM(w[t % 16] == word, "and takes the place of W_(t-16)");
    REACHED("a word of the schedule");
}
