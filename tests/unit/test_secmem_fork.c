/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for secrets across forks: with the kernel's help, and without it. */

#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mixing/state/fork.h"
#include "mixing/state/secmem.h"
#include "tests/unit/child.h"
#include "tests/unit/maps.h"
#include "tests/unit/unit.h"

enum { CHUNK_SLOTS = 64, COUNT = CHUNK_SLOTS + 10, SECRET = 0xa5 };

/* What a child answers. */
enum { ALL_ZERO = 0, ALL_SECRET = 10, MIXED = 11, REFUSED = 12 };

/* Slots of two chunks. */
static uint8_t *slots[COUNT];

static void open_and_fill(void)
{
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    for (size_t i = 0; i < COUNT; i++) {
        slots[i] = drng_secmem_alloc(DRNG_SLOT_SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(slots[i]);
        memset(slots[i], SECRET, DRNG_SLOT_SIZE);
    }
}

static void close_all(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        drng_secmem_free(slots[i], DRNG_SLOT_SIZE);
    }
    drng_secmem_close();
}

static int look(void)
{
    size_t secret = 0;
    size_t zero = 0;
    for (size_t i = 0; i < COUNT * DRNG_SLOT_SIZE; i++) {
        const uint8_t byte = slots[i / DRNG_SLOT_SIZE][i % DRNG_SLOT_SIZE];
        secret += byte == SECRET;
        zero += byte == 0;
    }
    if (zero == (size_t)COUNT * DRNG_SLOT_SIZE) {
        return ALL_ZERO;
    }
    return secret == (size_t)COUNT * DRNG_SLOT_SIZE ? ALL_SECRET : MIXED;
}

static int look_unchecked(void *unused)
{
    return look();
}

static int look_checked(void *unused)
{
    (void)drng_fork_generation();
    return look();
}

static bool answers(int status, int answer)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == answer;
}

#ifndef MADV_KEEPONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif

/* As on a kernel that does not wipe: fork.h says so, and the advice that this kernel took is taken back. */
static bool kernel_wiped;

static void advise_for_fork_page(int advice)
{
    CU_ASSERT_EQUAL(madvise(drng_fork_page, sizeof(*drng_fork_page), advice), 0);
}

static void open_and_fill_without_the_kernel(void)
{
    (void)drng_fork_open();
    kernel_wiped = drng_fork_kernel_wipes;
    drng_fork_kernel_wipes = false;
    if (kernel_wiped) {
        advise_for_fork_page(MADV_KEEPONFORK);
    }
    open_and_fill();
    /* Pages that were never advised: the second chunk's too. */
    CU_ASSERT_FALSE(maps_has_flag(slots[0], "wf"));
    CU_ASSERT_FALSE(maps_has_flag(slots[COUNT - 1], "wf"));
}

static void close_all_and_go_back_to_the_kernel(void)
{
    close_all();
    drng_fork_kernel_wipes = kernel_wiped;
    if (kernel_wiped) {
        advise_for_fork_page(MADV_WIPEONFORK);
    }
}

/* ---- With the kernel ---- */

UNIT_TEST("a forked child sees zeros")
{
    open_and_fill();
    CU_ASSERT_TRUE(answers(child_forked(look_unchecked, NULL), ALL_ZERO));
    CU_ASSERT_EQUAL(look(), ALL_SECRET);
    close_all();
}

UNIT_TEST("a cloned child sees zeros")
{
    open_and_fill();
    const int expected = drng_fork_kernel_wipes ? ALL_ZERO : ALL_SECRET;
    CU_ASSERT_TRUE(answers(child_cloned(look_unchecked, NULL), expected));
    CU_ASSERT_TRUE(answers(child_cloned(look_checked, NULL), expected));
    CU_ASSERT_EQUAL(look(), ALL_SECRET);
    close_all();
}

/* Ordinary memory goes to the child as it is: it is the slots that are special. */
static uint8_t ordinary[DRNG_SLOT_SIZE];

static int look_at_ordinary(void *unused)
{
    return ordinary[0] == SECRET ? ALL_SECRET : MIXED;
}

UNIT_TEST("ordinary memory is not wiped")
{
    ordinary[0] = SECRET;
    CU_ASSERT_TRUE(answers(child_forked(look_at_ordinary, NULL), ALL_SECRET));
    CU_ASSERT_TRUE(answers(child_cloned(look_at_ordinary, NULL), ALL_SECRET));
}

/* ---- Without ---- */

UNIT_TEST("without the kernel a fork handler wipes")
{
    open_and_fill_without_the_kernel();
    CU_ASSERT_TRUE(answers(child_forked(look_unchecked, NULL), ALL_ZERO));
    CU_ASSERT_TRUE(answers(child_forked(look_checked, NULL), ALL_ZERO));
    CU_ASSERT_EQUAL(look(), ALL_SECRET);
    close_all_and_go_back_to_the_kernel();
}

/* The C library learns nothing of it, and drng neither. */
UNIT_TEST("without the kernel a clone is not noticed")
{
    open_and_fill_without_the_kernel();
    CU_ASSERT_TRUE(answers(child_cloned(look_unchecked, NULL), ALL_SECRET));
    CU_ASSERT_TRUE(answers(child_cloned(look_checked, NULL), ALL_SECRET));
    close_all_and_go_back_to_the_kernel();
}

UNIT_TEST("without the kernel the parent keeps its slots")
{
    open_and_fill_without_the_kernel();
    (void)drng_fork_generation();
    CU_ASSERT_EQUAL(look(), ALL_SECRET);
    CU_ASSERT_TRUE(answers(child_forked(look_checked, NULL), ALL_ZERO));
    (void)drng_fork_generation();
    CU_ASSERT_EQUAL(look(), ALL_SECRET);
    close_all_and_go_back_to_the_kernel();
}

/* What the child fills after it has been wiped is its own, and the next look leaves it. */
static int fill_and_look(void *unused)
{
    (void)drng_fork_generation();
    if (look() != ALL_ZERO) {
        return MIXED;
    }
    for (size_t i = 0; i < COUNT; i++) {
        memset(slots[i], SECRET, DRNG_SLOT_SIZE);
    }
    (void)drng_fork_generation();
    return look();
}

UNIT_TEST("a child keeps what it fills itself")
{
    open_and_fill();
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || answers(child_cloned(fill_and_look, NULL), ALL_SECRET));
    close_all();
    open_and_fill_without_the_kernel();
    CU_ASSERT_TRUE(answers(child_forked(fill_and_look, NULL), ALL_SECRET));
    close_all_and_go_back_to_the_kernel();
}

static int clone_again(void *unused)
{
    const int own = fill_and_look(NULL);
    return own == ALL_SECRET && answers(child_forked(look_checked, NULL), ALL_ZERO) ? ALL_ZERO : MIXED;
}

UNIT_TEST("a child of a child is found out too")
{
    open_and_fill();
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || answers(child_cloned(clone_again, NULL), ALL_ZERO));
    close_all();
    open_and_fill_without_the_kernel();
    CU_ASSERT_TRUE(answers(child_forked(clone_again, NULL), ALL_ZERO));
    close_all_and_go_back_to_the_kernel();
}

/* ---- A child that goes on using them ---- */

/* The child knows which slots are taken: none is given out twice, and all can be given back. */
static int use_slots(void *unused)
{
    for (unsigned i = 0; i < 2 * CHUNK_SLOTS; i++) {
        const uint8_t *slot = drng_secmem_alloc(DRNG_SLOT_SIZE);
        if (slot == NULL || slot[0] != 0) {
            return REFUSED;
        }
        for (size_t j = 0; j < COUNT; j++) {
            if (slot == slots[j]) {
                return MIXED;
            }
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        drng_secmem_free(slots[i], DRNG_SLOT_SIZE);
    }
    return ALL_ZERO;
}

UNIT_TEST("a child takes and gives back slots")
{
    open_and_fill();
    CU_ASSERT_TRUE(answers(child_forked(use_slots, NULL), ALL_ZERO));
    CU_ASSERT_TRUE(answers(child_cloned(use_slots, NULL), ALL_ZERO));
    CU_ASSERT_EQUAL(look(), ALL_SECRET);
    close_all();
}

/* ---- Locks on pages, which no child inherits ---- */

static int look_for_page_lock(void *unused)
{
    return maps_has_flag(slots[0], "lo") ? ALL_SECRET : ALL_ZERO;
}

/* What the first chunk is; what is mapped later is not locked to begin with. */
UNIT_TEST("a child leaves its pages unlocked")
{
    open_and_fill();
    CU_ASSERT_FALSE(maps_has_flag(slots[COUNT - 1], "lo"));
    CU_ASSERT_TRUE(answers(child_forked(look_for_page_lock, NULL), ALL_ZERO));
    CU_ASSERT_TRUE(answers(child_cloned(look_for_page_lock, NULL), ALL_ZERO));
    close_all();
}

/* ---- Locks in slots ---- */

UNIT_TEST("a mutex is all zero when it is new")
{
    static const pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static const uint8_t zeros[sizeof(mutex)];
    CU_ASSERT_EQUAL(memcmp(&mutex, zeros, sizeof(mutex)), 0);
    CU_ASSERT_TRUE(sizeof(mutex) <= DRNG_SLOT_SIZE);
}

/* ThreadSanitizer, where it is linked in, asks for its options here: to it the child's wiped lock is still held. */

const char *__tsan_default_options(void)
{
    return "report_mutex_bugs=0";
}

/* Another thread that holds the lock until it is told to let go. */
struct holder {
    pthread_mutex_t *mutex;
    pthread_barrier_t held;
    pthread_barrier_t enough;
};

static void *hold(void *arg)
{
    struct holder *holder = arg;
    (void)pthread_mutex_lock(holder->mutex);
    (void)pthread_barrier_wait(&holder->held);
    (void)pthread_barrier_wait(&holder->enough);
    (void)pthread_mutex_unlock(holder->mutex);
    return NULL;
}

static int try_lock(void *mutex)
{
    (void)drng_fork_generation();
    return pthread_mutex_trylock(mutex) == 0 ? ALL_ZERO : REFUSED;
}

/* Statuses of two children, forked and cloned, that try a lock which a thread of this process holds. */
static void try_in_children(pthread_mutex_t *mutex, int *forked, int *cloned)
{
    struct holder holder = {.mutex = mutex};
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&holder.held, NULL, 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&holder.enough, NULL, 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, hold, &holder), 0);
    (void)pthread_barrier_wait(&holder.held);
    CU_ASSERT_EQUAL(try_lock(mutex), REFUSED);
    *forked = child_forked(try_lock, mutex);
    *cloned = child_cloned(try_lock, mutex);
    (void)pthread_barrier_wait(&holder.enough);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    (void)pthread_barrier_destroy(&holder.held);
    (void)pthread_barrier_destroy(&holder.enough);
}

UNIT_TEST("a lock in a slot is free in the child")
{
    int forked = -1;
    int cloned = -1;
    CU_ASSERT_TRUE_FATAL(drng_secmem_open());
    pthread_mutex_t *mutex = drng_secmem_alloc(DRNG_SLOT_SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mutex);
    try_in_children(mutex, &forked, &cloned);
    CU_ASSERT_TRUE(answers(forked, ALL_ZERO));
    CU_ASSERT_TRUE(!drng_fork_kernel_wipes || answers(cloned, ALL_ZERO));
    drng_secmem_free(mutex, DRNG_SLOT_SIZE);
    drng_secmem_close();
}

UNIT_TEST("a lock elsewhere is not")
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int forked = -1;
    int cloned = -1;
    try_in_children(&mutex, &forked, &cloned);
    CU_ASSERT_TRUE(answers(forked, REFUSED));
    CU_ASSERT_TRUE(answers(cloned, REFUSED));
}

/* A program's handlers of fork() that use drng: in the child, before drng's own is called; in the parent, after it. */
static bool handler_fills;
static bool first_handler_fills;

static void fill_before_the_fork(void)
{
    if (first_handler_fills) {
        (void)fill_and_look(NULL);
    }
}

static void fill_in_handler(void)
{
    if (handler_fills) {
        (void)drng_fork_generation();
        for (size_t i = 0; i < COUNT; i++) {
            memset(slots[i], SECRET, DRNG_SLOT_SIZE);
        }
    }
}

/* Handlers of the child are called in the order of their registration, the parent's in the reverse one: so these must
 * come before drng_fork_open(). */
static __attribute__((constructor)) void register_handler(void)
{
    (void)pthread_atfork(fill_before_the_fork, NULL, fill_in_handler);
}

static int fork_with_the_handler(void)
{
    handler_fills = true;
    const int forked = child_forked(look_unchecked, NULL);
    handler_fills = false;
    return forked;
}

/* Where the kernel does not wipe, drng's handler cannot tell whether it comes first, and wipes once more. */
UNIT_TEST("a child keeps what a fork handler fills")
{
    open_and_fill();
    CU_ASSERT_TRUE(answers(fork_with_the_handler(), drng_fork_kernel_wipes ? ALL_SECRET : ALL_ZERO));
    close_all();
}

UNIT_TEST("without the kernel a child takes new seeds after it")
{
    open_and_fill_without_the_kernel();
    CU_ASSERT_TRUE(answers(fork_with_the_handler(), ALL_ZERO));
    close_all_and_go_back_to_the_kernel();
}

/* In a process that has not drawn yet: the first generation that it asks for comes after drng's handler. */
static int fork_at_the_first_draw(void *unused)
{
    first_handler_fills = true;
    const bool wiped = answers(child_forked(look_unchecked, unused), ALL_ZERO);
    return wiped && look() == ALL_SECRET ? ALL_ZERO : MIXED;
}

UNIT_TEST("a child inherits nothing of a first draw at the fork")
{
    open_and_fill();
    CU_ASSERT_TRUE(answers(child_forked(fork_at_the_first_draw, NULL), ALL_ZERO));
    close_all();
    open_and_fill_without_the_kernel();
    CU_ASSERT_TRUE(answers(child_forked(fork_at_the_first_draw, NULL), ALL_ZERO));
    close_all_and_go_back_to_the_kernel();
}

UNIT_MAIN("secmem_fork")
