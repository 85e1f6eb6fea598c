/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No byte is drawn twice, however the process was copied.
 *
 * Built three times: on the module as it is shipped; as fork_no_wipe, on a kernel that does not wipe memory in a child,
 * where a word in each request parts what the C library does not tell of; and as fork_no_words, without such words. The
 * control is libcrypto's own generator, which draws the same bytes in two processes of the same id.
 */

#define _GNU_SOURCE

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "tests/process/kernel.h"
#include "tests/process/pool.h"
#include "tests/process/ways.h"
#include "tests/provider/evp.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { DRAWS = 5, SIBLINGS = 6 };

static OSSL_LIB_CTX *libctx;

static bool succeeded(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int draw_in_child(void *unused)
{
    return ways_draw(DRAWS) ? 0 : 1;
}

/* What `processes` of them have drawn, all different. */
static void assert_all_differ(unsigned processes)
{
    CU_ASSERT_EQUAL(pool_size(), (size_t)processes * DRAWS * ways_count());
    CU_ASSERT_EQUAL(pool_duplicates(), 0);
}

UNIT_TEST("siblings and parent differ")
{
    for (unsigned i = 0; i < SIBLINGS; i++) {
        CU_ASSERT_TRUE(succeeded(child_forked(draw_in_child, NULL)));
    }
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    assert_all_differ(SIBLINGS + 1);
}

/* A line of descent: each generation draws, then forks the next. */
static int draw_and_fork(void *arg)
{
    int *generations = arg;
    if (!ways_draw(DRAWS)) {
        return 1;
    }
    return --*generations == 0 || succeeded(child_forked(draw_and_fork, generations)) ? 0 : 1;
}

UNIT_TEST("generations differ")
{
    int generations = 4;
    CU_ASSERT_TRUE(succeeded(child_forked(draw_and_fork, &generations)));
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    assert_all_differ(5);
}

/* Forks before it has drawn: the grandchild gets what the child never looked at. */
static int fork_without_a_draw(void *unused)
{
    return succeeded(child_forked(draw_in_child, unused)) && ways_draw(DRAWS) ? 0 : 1;
}

UNIT_TEST("a fork before the first draw differs")
{
    CU_ASSERT_TRUE(succeeded(child_forked(fork_without_a_draw, NULL)));
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    assert_all_differ(3);
}

UNIT_TEST("clone() without handlers differs")
{
    for (unsigned i = 0; i < SIBLINGS; i++) {
        CU_ASSERT_TRUE(succeeded(child_cloned(draw_in_child, NULL)));
    }
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    assert_all_differ(SIBLINGS + 1);
}

static int draw_on_own_stack(void *unused)
{
    return draw_in_child(unused);
}

/* As vfork() has it: one memory, two processes; what the child draws, the parent has drawn. */
UNIT_TEST("a child in the same memory differs")
{
    static char stack[256 * 1024] __attribute__((aligned(64)));
    int status = -1;
    const pid_t pid = clone(draw_on_own_stack, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    CU_ASSERT_TRUE_FATAL(pid > 0);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_TRUE(succeeded(status));
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    assert_all_differ(2);
}

UNIT_TEST("a spawned program leaves the parent whole")
{
    char *const argv[] = {(char *)"true", NULL};
    char *const envp[] = {NULL};
    int status = -1;
    pid_t pid = -1;
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    CU_ASSERT_EQUAL_FATAL(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp), 0);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_TRUE(succeeded(status));
    CU_ASSERT_TRUE(ways_draw(DRAWS));
    assert_all_differ(2);
}

/* ---- PID namespaces: parent and child are both process 1 ---- */

enum { NOT_PERMITTED = 42 };

/* Process 1 of a namespace; its child by clone() is process 1 of the next. */
static int draw_as_process_1(void *draw)
{
    child_work *const *work = draw;
    /* A first draw, so that the generators know themselves to be in process 1 before they are copied. */
    if (getpid() != 1 || (*work)(NULL) != 0) {
        return 2;
    }
    const pid_t pid = CHILD_RAW_CLONE(SIGCHLD | CLONE_NEWPID);
    if (pid == 0) {
        _exit(getpid() == 1 ? (*work)(NULL) : 3);
    }
    int status = -1;
    const bool child_drew = pid > 0 && waitpid(pid, &status, 0) == pid && succeeded(status);
    return child_drew && (*work)(NULL) == 0 ? 0 : 4;
}

static int enter_namespace(void *draw)
{
    if (unshare(CLONE_NEWPID) != 0) {
        return NOT_PERMITTED;
    }
    return succeeded(child_forked(draw_as_process_1, draw)) ? 0 : 5;
}

/* False, and said so, where this process may not make namespaces. */
static bool ran_as_process_1(child_work *work)
{
    if (unit_emulated("a namespace takes a fork of QEMU without its threads")) {
        return false;
    }
    const int status = child_forked(enter_namespace, &work);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PERMITTED) {
        (void)printf("not permitted to make a PID namespace, skipped ");
        return false;
    }
    CU_ASSERT_TRUE(succeeded(status));
    return true;
}

UNIT_TEST("two processes of id 1 differ")
{
    if (ran_as_process_1(draw_in_child)) {
        assert_all_differ(3);
    }
}

/* ---- The control ---- */

static OSSL_LIB_CTX *built_in;

static int draw_built_in(void *unused)
{
    unsigned char draw[POOL_DRAW];
    return RAND_bytes_ex(built_in, draw, sizeof(draw), 0) == 1 && pool_add(draw) ? 0 : 1;
}

UNIT_TEST("the built-in generator repeats itself there")
{
    unsigned char warm[16];
    built_in = OSSL_LIB_CTX_new();
    CU_ASSERT_EQUAL_FATAL(RAND_bytes_ex(built_in, warm, sizeof(warm), 0), 1);
    if (ran_as_process_1(draw_built_in)) {
        CU_ASSERT_EQUAL(pool_size(), 3);
        CU_ASSERT_EQUAL(pool_duplicates(), 1);
    }
    OSSL_LIB_CTX_free(built_in);
}

/* ---- What is counted ---- */

/* The first thing that happens in the child is the draw. A child's counts begin at zero. */
static int count_in_child(void *unused)
{
    unsigned char draw[POOL_DRAW];
    if (RAND_bytes_ex(libctx, draw, sizeof(draw), 0) != 1) {
        return 1;
    }
    /* Public, and the primary that it was seeded from; a second draw adds nothing. */
    const uint64_t after = evp_counter(libctx, "fork-reseeds");
    (void)RAND_bytes_ex(libctx, draw, sizeof(draw), 0);
    return after == 2 && evp_counter(libctx, "fork-reseeds") == after ? 0 : 2;
}

UNIT_TEST("reseeds of a fork are counted")
{
    const uint64_t before = evp_counter(libctx, "fork-reseeds");
    CU_ASSERT_TRUE(succeeded(child_forked(count_in_child, NULL)));
    CU_ASSERT_TRUE(!kernel_wipes_clones() || succeeded(child_cloned(count_in_child, NULL)));
    CU_ASSERT_EQUAL(evp_counter(libctx, "fork-reseeds"), before);
}

int main(void)
{
    libctx = kernel_before_load() ? evp_context(TEST_KEYS) : NULL;
    if (libctx == NULL || !kernel_prepare() || !pool_open() || !ways_open(libctx)) {
        return 1;
    }
    const int result = unit_run("fork");
    ways_close();
    pool_close();
    OSSL_LIB_CTX_free(libctx);
    return result;
}
