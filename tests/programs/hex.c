/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/programs/hex.h"

/* -1: not a digit. */
static int value_of(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

bool hex_decode(const char *text, size_t digits, uint8_t *out, size_t capacity, size_t *len)
{
    if (digits % 2 != 0 || digits / 2 > capacity) {
        return false;
    }
    for (size_t i = 0; i < digits; i += 2) {
        const int high = value_of(text[i]);
        const int low = value_of(text[i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    *len = digits / 2;
    return true;
}
