/* SPDX-License-Identifier: Apache-2.0 */
/* The circuit of the S-box, for every byte in every place. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mixing/aes/aes_sbox.h"
#include "tests/unit/unit.h"

enum { PLACES = 64 };

/* ---- FIPS 197, 5.1.1, as it is written there ---- */

/* In GF(2^8), modulo x^8 + x^4 + x^3 + x + 1. */
static uint8_t multiply(uint8_t a, uint8_t b)
{
    unsigned product = 0;
    for (unsigned i = 0; i < 8; i++) {
        product ^= ((unsigned)b >> i & 1U) != 0 ? (unsigned)a << i : 0U;
    }
    for (unsigned i = 15; i-- > 8;) {
        product ^= (product >> i & 1U) != 0 ? 0x11bU << (i - 8) : 0U;
    }
    return (uint8_t)product;
}

/* 0 for 0. */
static uint8_t inverse(uint8_t a)
{
    for (unsigned b = 0; b < 256; b++) {
        if (multiply(a, (uint8_t)b) == 1) {
            return (uint8_t)b;
        }
    }
    return 0;
}

static uint8_t substitute(uint8_t byte)
{
    const unsigned b = inverse(byte);
    const unsigned turned = b | b << 8;
    return (uint8_t)(b ^ turned >> 4 ^ turned >> 5 ^ turned >> 6 ^ turned >> 7 ^ 0x63U);
}

/* ---- Bytes in slices ---- */

static void put(uint64_t q[DRNG_AES_SLICES], const uint8_t bytes[PLACES])
{
    memset(q, 0, DRNG_AES_SLICES * sizeof(*q));
    for (size_t place = 0; place < PLACES; place++) {
        for (unsigned i = 0; i < DRNG_AES_SLICES; i++) {
            q[i] |= (uint64_t)(bytes[place] >> i & 1) << place;
        }
    }
}

static uint8_t take(const uint64_t q[DRNG_AES_SLICES], size_t place)
{
    unsigned byte = 0;
    for (unsigned i = 0; i < DRNG_AES_SLICES; i++) {
        byte |= (unsigned)(q[i] >> place & 1) << i;
    }
    return (uint8_t)byte;
}

UNIT_TEST("the reference knows the standard's example")
{
    CU_ASSERT_EQUAL(multiply(0x57, 0x83), 0xc1); /* FIPS 197, 4.2 */
    CU_ASSERT_EQUAL(substitute(0x53), 0xed);     /* 5.1.1 */
    CU_ASSERT_EQUAL(substitute(0x00), 0x63);
}

/* Other bytes in the other places, so that none takes from its neighbour. */
UNIT_TEST("every byte is substituted in every place")
{
    uint8_t expected[256];
    unsigned wrong = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        expected[byte] = substitute((uint8_t)byte);
    }
    for (unsigned first = 0; first < 256; first++) {
        uint8_t bytes[PLACES];
        uint64_t q[DRNG_AES_SLICES];
        for (unsigned place = 0; place < PLACES; place++) {
            bytes[place] = (uint8_t)(first + 7 * place);
        }
        put(q, bytes);
        drng_aes_sub_bytes(q);
        for (size_t place = 0; place < PLACES; place++) {
            wrong += take(q, place) != expected[bytes[place]];
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

UNIT_MAIN("S-box")
