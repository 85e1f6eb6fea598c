/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int unit_skipped(const char *why)
{
    (void)printf("skipped: %s\n", why);
    return UNIT_SKIPPED;
}

/* scripts/ci/cross.sh's toolchain sets the variable. */
bool unit_emulated(const char *why)
{
    const bool emulated = getenv("DRNG_TEST_EMULATOR") != NULL; // NOLINT(concurrency-mt-unsafe)
    if (emulated) {
        (void)printf("skipped: QEMU's user mode: %s ", why);
        if (CU_is_test_running()) {
            CU_PASS("a skip");
        }
    }
    return emulated;
}

bool unit_samples(void)
{
    return getenv("DRNG_TEST_SAMPLE") != NULL; // NOLINT(concurrency-mt-unsafe)
}

static struct unit_test *tests; /* of all files, the lower lines first */

void unit_register(struct unit_test *test)
{
    struct unit_test **place = &tests;
    while (*place != NULL && (*place)->line < test->line) {
        place = &(*place)->next;
    }
    test->next = *place;
    *place = test;
}

int unit_run_file(const char *name, const char *file)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite(name, NULL, NULL);
    for (const struct unit_test *test = tests; test != NULL; test = test->next) {
        if (strcmp(test->file, file) == 0 && (suite == NULL || CU_add_test(suite, test->name, test->run) == NULL)) {
            (void)fprintf(stderr, "cannot register %s\n", test->name);
            return EXIT_FAILURE;
        }
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    const CU_ErrorCode error = CU_basic_run_tests();
    const unsigned asserts = CU_get_number_of_asserts();
    const unsigned failures = CU_get_number_of_failures() + CU_get_number_of_tests_failed();
    CU_cleanup_registry();
    /* A suite that asserted nothing proves nothing. */
    return error == CUE_SUCCESS && failures == 0 && asserts > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

FILE *unit_table;

int unit_run_file_table(const char *name, const char *variable, const char *head, const char *file)
{
    const char *path = getenv(variable); // NOLINT(concurrency-mt-unsafe)
    if (path == NULL) {
        return unit_run_file(name, file);
    }
    unit_table = fopen(path, "we");
    if (unit_table == NULL || fputs(head, unit_table) == EOF) {
        perror(path);
        return EXIT_FAILURE;
    }
    const int result = unit_run_file(name, file);
    return fclose(unit_table) == 0 ? result : EXIT_FAILURE;
}
