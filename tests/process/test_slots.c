/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots, where a signal handler forks at any instruction of the call that takes or frees one: in the child the handler
 * takes slots, and then the interrupted call goes on there. Nobody gets what somebody has.
 */

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mixing/state/secmem.h"
#include "tests/process/step.h"
#include "tests/unit/unit.h"

enum { WATCHDOG = 60, SLOTS = 64, OF_HANDLER = 3, MOST_STEPS = 100000 };

static void *of_handler[OF_HANDLER];
static void *of_call;
static size_t fork_at;
static size_t steps;
static bool in_child;
static int status;

static void visit(const struct step *step)
{
    if (!step->inside || in_child || steps++ != fork_at) {
        return;
    }
    const pid_t child = fork();
    if (child != 0) {
        if (child < 0 || waitpid(child, &status, 0) != child) {
            status = -1;
        }
        step_stop();
        return;
    }
    (void)alarm(WATCHDOG);
    in_child = true;
    for (size_t i = 0; i < OF_HANDLER; i++) {
        of_handler[i] = drng_secmem_alloc(DRNG_SLOT_SIZE);
    }
    step_stop();
}

/* What is taken afterwards is none of those that are in use; in all it is the first chunk and more. */
static int verify(void)
{
    void *taken[OF_HANDLER + 1 + SLOTS];
    size_t count = 0;
    for (size_t i = 0; i < OF_HANDLER; i++) {
        taken[count++] = of_handler[i];
    }
    if (of_call != NULL) {
        taken[count++] = of_call;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        taken[count++] = drng_secmem_alloc(DRNG_SLOT_SIZE);
    }
    for (size_t i = 0; i < count; i++) {
        if (taken[i] == NULL) {
            return 1;
        }
        for (size_t j = 0; j < i; j++) {
            if (taken[i] == taken[j]) {
                return 2;
            }
        }
    }
    return 0;
}

static void take(void)
{
    of_call = drng_secmem_alloc(DRNG_SLOT_SIZE);
}

static void give_back(void)
{
    drng_secmem_free(of_call, DRNG_SLOT_SIZE);
    of_call = NULL;
}

static void fork_at_each_step_of(void (*work)(void), void (*before)(void), void (*after)(void))
{
    bool forked = true;
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    for (fork_at = 0; forked && fork_at < MOST_STEPS; fork_at += unit_samples() ? 7 : 1) {
        before();
        steps = 0;
        status = 0;
        step_run(work, visit);
        if (in_child) {
            _exit(verify());
        }
        CU_ASSERT_EQUAL(status, 0);
        after();
        forked = steps > fork_at;
    }
    CU_ASSERT_TRUE(fork_at > 30);
    drng_secmem_close();
}

static void nothing(void) {}

UNIT_TEST("a slot that is taken meanwhile")
{
    fork_at_each_step_of(take, nothing, give_back);
}

UNIT_TEST("a slot that is freed meanwhile")
{
    fork_at_each_step_of(give_back, take, nothing);
}

int main(void)
{
    return step_open((const void *)(uintptr_t)fork_at_each_step_of) ? unit_run("slots") : 77;
}
