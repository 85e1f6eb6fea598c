/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - a CUnit program for one module: tests, registered where they stand; the result is the exit status. */

#ifndef DRNG_UNIT_H
#define DRNG_UNIT_H

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit status of a program that cannot run on this machine. ctest knows it. */
enum { UNIT_SKIPPED = 77 };

/* Says why, and returns UNIT_SKIPPED. */
int unit_skipped(const char *why);

/*
 * UNIT_TEST("what holds") { ... } is a test. Constructors register the tests before main() begins. Their order differs
 * between compilers, so the tests of a file run in the order of their lines.
 */
#define UNIT_TEST(name)          UNIT_TEST_ON(__LINE__, name)
#define UNIT_TEST_ON(line, name) UNIT_TEST_OF_LINE(line, name)
#define UNIT_TEST_OF_LINE(line_, name_)                                                                                \
    static void test_of_line_##line_(void);                                                                            \
    __attribute__((constructor)) static void register_line_##line_(void)                                               \
    {                                                                                                                  \
        static struct unit_test test = {                                                                               \
            .name = (name_), .run = test_of_line_##line_, .file = __FILE__, .line = (line_)};                          \
        unit_register(&test);                                                                                          \
    }                                                                                                                  \
    static void test_of_line_##line_(void)

struct unit_test {
    const char *name;
    void (*run)(void);
    const char *file;
    unsigned line;
    struct unit_test *next;
};

void unit_register(struct unit_test *test);

/* Runs the tests of the file that calls it, as the suite `name`. main() returns the result. */
#define unit_run(name) unit_run_file((name), __FILE__)
int unit_run_file(const char *name, const char *file);

/*
 * The same. Where the environment has this variable, the file that it names gets `head` and then what the tests write
 * to unit_table, which is NULL otherwise.
 */
#define unit_run_table(name, variable, head) unit_run_file_table((name), (variable), (head), __FILE__)
int unit_run_file_table(const char *name, const char *variable, const char *head, const char *file);
extern FILE *unit_table;

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

#define UNIT_MAIN(name)                                                                                                \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return unit_run(name);                                                                                         \
    }

#endif
