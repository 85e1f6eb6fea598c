/* SPDX-License-Identifier: Apache-2.0 */
/* libdrng without a handle: drng_bytes() and drng_uniform(). */

#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/library_rig.h"
#include "tests/unit/unit.h"

enum { TAKEN_BEFORE = 0xaa, LEN = 100 };

static uint8_t out[LEN];
static uint8_t more[LEN];

/* ---- What the generator gives, where a test says so ---- */

static const uint64_t *draws; /* NULL: what it gives by itself */
static unsigned drawn;
static unsigned fails_at; /* the draw that fails; 0: none */

int __real_drng_read(drng *handle, void *bytes, size_t len);
int __wrap_drng_read(drng *handle, void *bytes, size_t len);
int __wrap_drng_read(drng *handle, void *bytes, size_t len)
{
    drawn++;
    if (drawn == fails_at) {
        memset(bytes, 0, len);
        return DRNG_E_NO_SOURCE;
    }
    if (draws == NULL) {
        return __real_drng_read(handle, bytes, len);
    }
    memcpy(bytes, &draws[drawn - 1], len);
    return DRNG_SUCCESS;
}

static void script(const uint64_t *numbers, unsigned failure)
{
    draws = numbers;
    drawn = 0;
    fails_at = failure;
}

/* ---- Bytes ---- */

/* Before any success: the handle is the process's, and stays. */
UNIT_TEST("where nothing serves it fails and tries again")
{
    uint64_t number = TAKEN_BEFORE;
    library_rig_set_up(scripted_dry, scripted_dry);
    scripted_os_ready = false;
    memset(out, TAKEN_BEFORE, LEN);
    CU_ASSERT_EQUAL(drng_bytes(out, LEN), DRNG_E_NO_SOURCE);
    CU_ASSERT_TRUE(bytes_are(out, LEN, 0));
    CU_ASSERT_EQUAL(drng_uniform(&number, 6), DRNG_E_NO_SOURCE);
    CU_ASSERT_EQUAL(number, 0);
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

/* ---- Numbers ---- */

static uint64_t number_of(const uint64_t *numbers, uint64_t bound)
{
    uint64_t number = TAKEN_BEFORE;
    script(numbers, 0);
    CU_ASSERT_EQUAL(drng_uniform(&number, bound), DRNG_SUCCESS);
    return number;
}

/* 2^64 mod 6 is 4, so 0 to 3 are drawn again: of what is left, each remainder has as many numbers. */
UNIT_TEST("what would make some numbers likelier is drawn again")
{
    static const uint64_t low[] = {0, 3, 2, 4};
    CU_ASSERT_EQUAL(number_of(low, 6), 4);
    CU_ASSERT_EQUAL(drawn, 4);
    CU_ASSERT_EQUAL(number_of((const uint64_t[]){UINT64_MAX}, 6), 3);
    CU_ASSERT_EQUAL(drawn, 1);
    CU_ASSERT_EQUAL(number_of((const uint64_t[]){0}, 1), 0);
    CU_ASSERT_EQUAL(number_of((const uint64_t[]){7}, 8), 7);
    CU_ASSERT_EQUAL(number_of((const uint64_t[]){5, UINT64_MAX - 1}, UINT64_MAX), 5);
    CU_ASSERT_EQUAL(number_of((const uint64_t[]){0, UINT64_C(1) << 63, 3}, (UINT64_C(1) << 63) + 1), UINT64_C(1) << 63);
    CU_ASSERT_EQUAL(drawn, 2);
}

UNIT_TEST("a number that does not come is an error")
{
    static const uint64_t zeros[256];
    uint64_t number = TAKEN_BEFORE;
    script(zeros, 3);
    CU_ASSERT_EQUAL(drng_uniform(&number, 6), DRNG_E_NO_SOURCE);
    CU_ASSERT_EQUAL(number, 0);
    number = TAKEN_BEFORE;
    script(zeros, 0);
    CU_ASSERT_EQUAL(drng_uniform(&number, 6), DRNG_E_NOT_READY);
    CU_ASSERT_EQUAL(number, 0);
    CU_ASSERT_EQUAL(drawn, 128);
    number = TAKEN_BEFORE;
    CU_ASSERT_EQUAL(drng_uniform(&number, 0), DRNG_E_ARGUMENT);
    CU_ASSERT_EQUAL(number, TAKEN_BEFORE);
    CU_ASSERT_EQUAL(drng_uniform(NULL, 6), DRNG_E_ARGUMENT);
}

/* Of the generator itself. */
UNIT_TEST("each number below the bound comes")
{
    unsigned seen[6] = {0};
    script(NULL, 0);
    for (unsigned i = 0; i < 600; i++) {
        uint64_t number = 6;
        CU_ASSERT_EQUAL(drng_uniform(&number, 6), DRNG_SUCCESS);
        CU_ASSERT_TRUE_FATAL(number < 6);
        seen[number]++;
    }
    for (unsigned i = 0; i < 6; i++) {
        CU_ASSERT_TRUE(seen[i] > 40); /* of 100, with a deviation of 9 */
    }
}

UNIT_MAIN("libdrng without a handle")
