/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that takes any advice and follows none, as QEMU's user mode does: from the first look at it on. A handler of
 * fork() wipes then.
 */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { SECRET = 0xa5 };

/* Linked with --wrap. */

int __wrap_madvise(void *address, size_t len, int advice)
{
    return 0;
}

static bool no_memory_for_a_handler;
int __real_pthread_atfork(void (*before)(void), void (*after)(void), void (*child)(void));

int __wrap_pthread_atfork(void (*before)(void), void (*after)(void), void (*child)(void))
{
    return no_memory_for_a_handler ? ENOMEM : __real_pthread_atfork(before, after, child);
}

static int open_without_a_handler(void *unused)
{
    no_memory_for_a_handler = true;
    return drng_secmem_open() ? 1 : 0;
}

/* In a child, since it opens once in a process. */
UNIT_TEST("without a handler of fork() nothing is opened")
{
    CU_ASSERT_EQUAL(child_forked(open_without_a_handler, NULL), 0);
}

static uint64_t parents_generation;

/* What a child sees before it asks for anything. */
struct seen {
    unsigned char *slot;
    unsigned char byte;
    bool is_new;
};

static int look(void *vseen)
{
    const struct seen *seen = vseen;
    const bool is_new = drng_fork_generation() != parents_generation;
    return seen->slot[0] == seen->byte && seen->slot[DRNG_SLOT_SIZE - 1] == seen->byte && is_new == seen->is_new ? 0
                                                                                                                 : 1;
}

UNIT_TEST("a kernel that takes any advice is not relied on")
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_FALSE(drng_fork_kernel_wipes);
    struct seen wiped = {.slot = drng_secmem_alloc(DRNG_SLOT_SIZE), .byte = 0, .is_new = true};
    CU_ASSERT_PTR_NOT_NULL_FATAL(wiped.slot);
    memset(wiped.slot, SECRET, DRNG_SLOT_SIZE);
    parents_generation = drng_fork_generation();
    CU_ASSERT_EQUAL(child_forked(look, &wiped), 0);
    CU_ASSERT_EQUAL(drng_fork_generation(), parents_generation);
    /* The C library learns nothing of this one, and drng neither: request mixing parts it from its parent. */
    struct seen unnoticed = {.slot = wiped.slot, .byte = SECRET, .is_new = false};
    CU_ASSERT_EQUAL(child_cloned(look, &unnoticed), 0);
    CU_ASSERT_EQUAL(drng_fork_generation(), parents_generation);
    drng_secmem_free(wiped.slot, DRNG_SLOT_SIZE);
    drng_secmem_close();
}

/* ---- A signal in the child, while it is wiped ---- */

enum { CHILD_WATCHDOG = 20 }; /* seconds */

static void draw_in_handler(int signal)
{
    (void)drng_fork_generation();
}

static void be_interrupted(void)
{
    (void)raise(SIGUSR1);
}

static int enter_with_a_watchdog(void *unused)
{
    (void)alarm(CHILD_WATCHDOG); /* ends a child that waits for itself */
    return drng_fork_generation() != parents_generation ? 0 : 1;
}

UNIT_TEST("a handler that draws does not wait for what it interrupted")
{
    static struct drng_fork_watcher watcher = {.wipe = be_interrupted};
    (void)drng_fork_open();
    drng_fork_watch(&watcher);
    const struct sigaction action = {.sa_handler = draw_in_handler};
    (void)sigaction(SIGUSR1, &action, NULL);
    parents_generation = drng_fork_generation();
    CU_ASSERT_EQUAL(child_forked(enter_with_a_watchdog, NULL), 0);
}

UNIT_MAIN("fork_pretended")
