/* unit.h - a CUnit program for one module: a table of tests, and the result as the exit status. */

#ifndef DRNG_UNIT_H
#define DRNG_UNIT_H

#include <CUnit/CUnit.h>
#include <stdbool.h>

/* Exit status of a program that cannot run on this machine, after a line that says why. ctest knows it. */
enum { UNIT_SKIPPED = 77 };

struct unit_test {
    const char *name;
    void (*run)(void);
};

/* Runs tests[0..count) as the suite `name`. main() returns the result. */
int unit_run(const char *name, const struct unit_test *tests, unsigned count);

/*
 * Whether this runs under QEMU's user mode, which is no kernel of its own and passes on only a part of what a program
 * asks of one. Then it is said that the test is skipped, and why.
 */
bool unit_emulated(const char *why);

/*
 * Whether DRNG_TEST_SAMPLE asks for a part of what is tried. All of it is tried with the build called dev; that another
 * build, valgrind or an emulator finds nothing either, a part shows in less time.
 */
bool unit_samples(void);

#define UNIT_MAIN(name, tests)                                                                                         \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return unit_run(name, tests, sizeof(tests) / sizeof(*(tests)));                                                \
    }

#endif
