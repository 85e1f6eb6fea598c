/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Once it is loaded, drng makes no system call that malloc(), getrandom() and the clock do not make, and none in a
 * handler of fork(): a filter that kills for any other finds nothing to kill.
 *
 * Built twice: on the provider, and, as filtered_library, on libdrng.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/process/filter.h"
#include "tests/process/filtered.h"
#include "tests/process/kernel.h"
#include "tests/process/scene.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

enum { THREADS = 100, LOCKABLE = 32 << 10 /* bytes */ };

/* What may be called after the load; below the empty line, what the C library calls for this test. */
static const long allowed[] = {
    SYS_brk,        SYS_mmap,           SYS_munmap,          SYS_mremap,        SYS_mprotect,
    SYS_madvise,    SYS_futex,          SYS_getrandom,       SYS_clock_gettime,
#ifdef SYS_time
    SYS_time,
#endif

    SYS_clone,      SYS_clone3,         SYS_set_robust_list, SYS_rseq,          SYS_wait4,
    SYS_write,      SYS_rt_sigprocmask, SYS_rt_sigaction,    SYS_prlimit64,     SYS_exit,
    SYS_exit_group,
};

static bool forbid(long number)
{
    return filter_kill(&number, 1);
}

static int draw_in_child(void *unused)
{
    return filtered_draw() && filtered_draw_anew() ? 0 : 1;
}

static int do_nothing(void *unused)
{
    return 0;
}

static int execute(void *unused)
{
    return execl("/bin/true", "true", (char *)NULL);
}

static void *draw_in_thread(void *failed)
{
    return filtered_draw() && filtered_draw_anew() ? NULL : failed;
}

/* ---- Scenes ---- */

/* A process that has drawn, or, if it is said to be new, one that has not. */
static int play_all_else(void)
{
    pthread_t thread;
    void *failed = &failed;
    const bool is_new = strcmp(scene_argument(), "new") == 0;
    if (!filtered_load() || (!is_new && !filtered_draw()) ||
        !filter_allow_only(allowed, sizeof(allowed) / sizeof(*allowed))) {
        return 1;
    }
    if (child_forked(do_nothing, NULL) != 0 || child_forked(draw_in_child, NULL) != 0 ||
        child_cloned(draw_in_child, NULL) != 0) {
        return 2;
    }
    if (!filtered_draw() || !filtered_draw_anew()) {
        return 3;
    }
    return pthread_create(&thread, NULL, draw_in_thread, failed) == 0 && pthread_join(thread, &failed) == 0 &&
                   failed == NULL && child_forked(draw_in_child, NULL) == 0
               ? 0
               : 4;
}

/* The control. */
static int play_break_out(void)
{
    if (!filtered_load() || !filter_allow_only(allowed, sizeof(allowed) / sizeof(*allowed))) {
        return 1;
    }
    (void)syscall(SYS_getppid);
    return 0;
}

static int play_prctl(void)
{
    if (!filtered_load() || (strcmp(scene_argument(), "drawn") == 0 && !filtered_draw()) || !forbid(SYS_prctl)) {
        return 1;
    }
    return child_forked(do_nothing, NULL) == 0 && child_forked(execute, NULL) == 0 &&
                   child_forked(draw_in_child, NULL) == 0
               ? 0
               : 2;
}

/* What drng can do without, whatever the CPU has, refused from before it is loaded. */
static int play_refused(void)
{
    static const long refused[] = {SYS_getpid, SYS_madvise, SYS_clock_gettime};
    const int error = strcmp(scene_argument(), "EPERM") == 0 ? EPERM : ENOSYS;
    if (!filter_refuse(refused, sizeof(refused) / sizeof(*refused), error) || !filtered_load()) {
        return 1;
    }
    return filtered_draw() && child_forked(draw_in_child, NULL) == 0 && filtered_draw_anew() ? 0 : 2;
}

static pthread_barrier_t all_have_drawn;

static void *draw_and_wait(void *failed)
{
    void *result = draw_in_thread(failed);
    (void)pthread_barrier_wait(&all_have_drawn);
    return result;
}

/* Root's privilege would make nothing of the limit. */
static bool give_up_locking(void)
{
    const struct rlimit few = {LOCKABLE, LOCKABLE};
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct has[2];
    if (setrlimit(RLIMIT_MEMLOCK, &few) != 0 || syscall(SYS_capget, &header, has) != 0) {
        return false;
    }
    has[0].effective &= ~(1U << CAP_IPC_LOCK);
    return syscall(SYS_capset, &header, has) == 0;
}

static int play_threads(void)
{
    pthread_t threads[THREADS];
    void *failed = &failed;
    bool served = true;
    if (!give_up_locking() || !filtered_load() || !forbid(SYS_prctl) ||
        pthread_barrier_init(&all_have_drawn, NULL, THREADS) != 0) {
        return 1;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, draw_and_wait, failed) != 0) {
            return 2;
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *result = failed;
        served = pthread_join(threads[i], &result) == 0 && result == NULL && served;
    }
    return served ? 0 : 3;
}

static const struct scene scenes[] = {{"all else", play_all_else},
                                      {"break out", play_break_out},
                                      {"prctl", play_prctl},
                                      {"refused", play_refused},
                                      {"threads", play_threads}};

/* ---- Tests ---- */

UNIT_TEST("no other call is made after the load")
{
    CU_ASSERT_EQUAL(scene_play("all else", "", SCENE_AS_IT_IS), 0);
    CU_ASSERT_EQUAL(scene_play("all else", "new", SCENE_AS_IT_IS), 0);
    CU_ASSERT_EQUAL(scene_play("all else", "", SCENE_MASKED), 0);
    const int killed = scene_play("break out", "", SCENE_AS_IT_IS);
    CU_ASSERT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGSYS);
}

/* One draws, one ends at once, one executes another program. */
UNIT_TEST("a program that forbids prctl keeps its children")
{
    CU_ASSERT_EQUAL(scene_play("prctl", "", SCENE_AS_IT_IS), 0);
    CU_ASSERT_EQUAL(scene_play("prctl", "drawn", SCENE_AS_IT_IS), 0);
}

UNIT_TEST("what it can do without may be refused from the start")
{
    CU_ASSERT_EQUAL(scene_play("refused", "EPERM", SCENE_AS_IT_IS), 0);
    CU_ASSERT_EQUAL(scene_play("refused", "ENOSYS", SCENE_AS_IT_IS), 0);
}

UNIT_TEST("a hundred threads live where little may be locked")
{
    CU_ASSERT_EQUAL(scene_play("threads", "", SCENE_AS_IT_IS), 0);
}

int main(int argc, char **argv)
{
    scene_enter(argc, argv, scenes, sizeof(scenes) / sizeof(*scenes));
    if (kernel_is_instrumented()) {
        return unit_skipped("sanitizers and valgrind make system calls of their own");
    }
    if (unit_emulated("the filter would be on QEMU's own system calls")) {
        return UNIT_SKIPPED;
    }
    return unit_run("filtered");
}
