/* unit.h - a CUnit program for one module: a table of tests, and the result as the exit status. */

#ifndef DRNG_UNIT_H
#define DRNG_UNIT_H

#include <CUnit/CUnit.h>

/* Exit status of a program that cannot run on this machine, after a line that says why. ctest knows it. */
enum { UNIT_SKIPPED = 77 };

struct unit_test {
    const char *name;
    void (*run)(void);
};

/* Runs tests[0..count) as the suite `name`. main() returns the result. */
int unit_run(const char *name, const struct unit_test *tests, unsigned count);

#define UNIT_MAIN(name, tests)                                                                                         \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return unit_run(name, tests, sizeof(tests) / sizeof(*(tests)));                                                \
    }

#endif
