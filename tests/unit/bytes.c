/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/bytes.h"

#include <string.h>

#include <CUnit/CUnit.h>

#include "tests/programs/hex.h"

void bytes_random(uint64_t *state, void *out, size_t len)
{
    uint8_t *to = (uint8_t *)out;
    for (size_t i = 0; i < len; i++) {
        *state += 0x9e3779b97f4a7c15;
        uint64_t z = *state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        to[i] = (uint8_t)(z >> 56);
    }
}

bool bytes_are(const void *data, size_t len, uint8_t value)
{
    const uint8_t *from = (const uint8_t *)data;
    for (size_t i = 0; i < len; i++) {
        if (from[i] != value) {
            return false;
        }
    }
    return true;
}

void bytes_from_hex(const char *hex, uint8_t *out, size_t len)
{
    size_t decoded = 0;
    CU_ASSERT_TRUE_FATAL(hex_decode(hex, strlen(hex), out, len, &decoded));
    CU_ASSERT_EQUAL_FATAL(decoded, len);
}
