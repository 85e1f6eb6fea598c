/* SPDX-License-Identifier: Apache-2.0 */
/* Wiping, and seeing that it is done. */

#include <stdint.h>

#include "mixing/machine/wipe.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

enum { LEN = 40 };

UNIT_TEST("all of it is wiped, and no more")
{
    uint8_t bytes[LEN + 2];
    for (size_t len = 0; len <= LEN; len++) {
        memset(bytes, 0x5a, sizeof(bytes));
        drng_wipe(bytes + 1, len);
        CU_ASSERT_TRUE(bytes_are(bytes + 1, len, 0));
        CU_ASSERT_TRUE(bytes[0] == 0x5a && bytes[len + 1] == 0x5a);
        CU_ASSERT_TRUE(drng_is_wiped(bytes + 1, len));
    }
}

UNIT_TEST("a bit anywhere is seen")
{
    for (size_t i = 0; i < LEN; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t bytes[LEN] = {0};
            bytes[i] = (uint8_t)(1U << bit);
            CU_ASSERT_FALSE(drng_is_wiped(bytes, sizeof(bytes)));
        }
    }
}

UNIT_MAIN("wiping")
