/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/unit/reference.c asserts by CUnit, which would want a suite around it, ends a fuzz target. */

#include <CUnit/CUnit.h>

#include "tests/fuzz/fuzz.h"

CU_BOOL CU_assertImplementation(CU_BOOL holds, unsigned int line, const char *condition, const char *file,
                                const char *function, CU_BOOL fatal)
{
    fuzz_check(holds != CU_FALSE, condition, file, (int)line);
    return holds;
}
