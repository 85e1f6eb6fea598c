/* unit.h - a CUnit program for one module: its tests in a table, the result in the exit status. */

#ifndef DRNG_UNIT_H
#define DRNG_UNIT_H

#include <CUnit/CUnit.h>

/* What a program returns that cannot be run here, after a line that says why; ctest knows it. */
enum { UNIT_SKIPPED = 77 };

struct unit_test {
    const char *name;
    void (*run)(void);
};

/* Runs tests[0..count) as the suite `name`; to be returned from main(). */
int unit_run(const char *name, const struct unit_test *tests, unsigned count);

#define UNIT_MAIN(name, tests)                                                                                         \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return unit_run(name, tests, sizeof(tests) / sizeof(*(tests)));                                                \
    }

#endif
