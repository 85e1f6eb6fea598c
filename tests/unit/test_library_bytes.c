/* SPDX-License-Identifier: Apache-2.0 */
/* libdrng without a handle: drng_bytes(). */

#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/library_rig.h"
#include "tests/unit/unit.h"

enum { TAKEN_BEFORE = 0xaa, LEN = 100 };

static uint8_t out[LEN];
static uint8_t more[LEN];

/* Before any success: the handle is the process's, and stays. */
UNIT_TEST("where nothing serves it fails and tries again")
{
    library_rig_set_up(scripted_dry, scripted_dry);
    scripted_os_ready = false;
    memset(out, TAKEN_BEFORE, LEN);
    CU_ASSERT_EQUAL(drng_bytes(out, LEN), DRNG_E_NO_SOURCE);
    CU_ASSERT_TRUE(bytes_are(out, LEN, 0));
    scripted_os_ready = true;
    CU_ASSERT_EQUAL(drng_bytes(out, LEN), DRNG_SUCCESS);
    CU_ASSERT_FALSE(bytes_are(out, LEN, 0));
}

UNIT_TEST("bytes come without a handle")
{
    memset(out, 0, LEN);
    memset(more, 0, LEN);
    CU_ASSERT_EQUAL(drng_bytes(out, LEN - 1), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_bytes(more, LEN - 1), DRNG_SUCCESS);
    CU_ASSERT_NOT_EQUAL(memcmp(out, more, LEN - 1), 0);
    CU_ASSERT_EQUAL(out[LEN - 1], 0);
    CU_ASSERT_EQUAL(drng_bytes(NULL, 0), DRNG_SUCCESS);
    CU_ASSERT_EQUAL(drng_bytes(NULL, 1), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(drng_bytes(out, SIZE_MAX), DRNG_E_ARGUMENT);
}

UNIT_MAIN("libdrng without a handle")
