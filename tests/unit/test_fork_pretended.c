/*
 * A kernel that takes any advice and follows none, as QEMU's user mode does: from the first look at it on. Ids tell
 * processes apart then.
 */

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mixing/memory/fork.h"
#include "mixing/memory/secmem.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { SECRET = 0xa5 };

/* Linked with --wrap. */
int __wrap_madvise(void *address, size_t len, int advice);

int __wrap_madvise(void *address, size_t len, int advice)
{
    (void)address;
    (void)len;
    (void)advice;
    return 0;
}

static uint64_t parents_generation;

/* The bytes of a slot before and after the child asks for its generation. */
static int look(void *vslot)
{
    const unsigned char *slot = vslot;
    const bool was_there = slot[0] == SECRET && slot[DRNG_SLOT_SIZE - 1] == SECRET;
    const bool is_new = drng_fork_generation() != parents_generation;
    return was_there && is_new && slot[0] == 0 && slot[DRNG_SLOT_SIZE - 1] == 0 ? 0 : 1;
}

static void a_kernel_that_takes_any_advice_is_not_relied_on(void)
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    CU_ASSERT_FALSE(drng_fork_kernel_wipes);
    void *slot = drng_secmem_alloc();
    CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
    memset(slot, SECRET, DRNG_SLOT_SIZE);
    parents_generation = drng_fork_generation();
    CU_ASSERT_EQUAL(child_cloned(look, slot), 0);
    CU_ASSERT_EQUAL(drng_fork_generation(), parents_generation);
    drng_secmem_free(slot);
    drng_secmem_close();
}

/* ---- A signal in the child, while it is wiped ---- */

enum { CHILD_WATCHDOG = 20 }; /* seconds */

static void draw_in_handler(int signal)
{
    (void)signal;
    (void)drng_fork_generation();
}

static void be_interrupted(void)
{
    (void)raise(SIGUSR1);
}

static int enter_with_a_watchdog(void *unused)
{
    (void)unused;
    (void)alarm(CHILD_WATCHDOG); /* ends a child that waits for itself */
    return drng_fork_generation() != parents_generation ? 0 : 1;
}

static void a_handler_that_draws_does_not_wait_for_what_it_interrupted(void)
{
    static struct drng_fork_watcher watcher = {.wipe = be_interrupted};
    drng_fork_open();
    drng_fork_watch(&watcher);
    (void)signal(SIGUSR1, draw_in_handler);
    parents_generation = drng_fork_generation();
    CU_ASSERT_EQUAL(child_cloned(enter_with_a_watchdog, NULL), 0);
}

/* ---- A child with the id of its parent ---- */

static pid_t pretended_id; /* 0: the real one */

pid_t __wrap_getpid(void);

pid_t __wrap_getpid(void)
{
    return pretended_id != 0 ? pretended_id : (pid_t)syscall(SYS_getpid);
}

static int enter(void *unused)
{
    (void)unused;
    return drng_fork_generation() != parents_generation ? 0 : 1;
}

static void a_child_with_the_id_of_its_parent_is_another_process(void)
{
    pretended_id = 1; /* the first of a PID namespace, which makes another */
    drng_fork_open();
    parents_generation = drng_fork_generation();
    CU_ASSERT_EQUAL(child_forked(enter, NULL), 0);
    pretended_id = 0;
}

static const struct unit_test tests[] = {
    {"a kernel that takes any advice is not relied on", a_kernel_that_takes_any_advice_is_not_relied_on},
    {"a handler that draws does not wait for what it interrupted",
     a_handler_that_draws_does_not_wait_for_what_it_interrupted},
    {"a child with the id of its parent is another process", a_child_with_the_id_of_its_parent_is_another_process},
};

UNIT_MAIN("fork_pretended", tests)
