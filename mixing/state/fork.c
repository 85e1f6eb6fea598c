/* SPDX-License-Identifier: Apache-2.0 */
/* The page that the kernel wipes in a child, the handler of fork() where it does not, and the page of a family. */

#define _GNU_SOURCE

#include "mixing/state/fork.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct drng_fork_page) <= 4096, "the page for what a fork wipes is too small");
_Static_assert(sizeof(struct drng_family) <= 4096, "the page of a family is too small");

/*
 * Each holds one whole page, whatever address the loader gives the array. So the distance of the family's page from
 * other data of the module does not change, and it is found from outside without an address.
 */
static uint8_t room[2 * DRNG_LARGEST_PAGE];
static uint8_t family_room[2 * DRNG_LARGEST_PAGE];

struct drng_fork_page *drng_fork_page;
struct drng_family *drng_family;
static struct drng_family own_family;
bool drng_fork_kernel_wipes;
static bool children_are_wiped;

/* The generation of the process that asked last. Ordinary memory, so that a child counts on from its parent. */
static atomic_uint_least64_t last_generation;

static _Atomic(struct drng_fork_watcher *) watchers;

/*
 * QEMU's user mode reports success for any advice and does not follow it. So an advice that does not exist is tried
 * first: where it succeeds, success means nothing.
 */
static bool kernel_wipes(void *memory, size_t size)
{
    const int no_such_advice = -1;
    return madvise(memory, size, no_such_advice) != 0 && madvise(memory, size, MADV_WIPEONFORK) == 0;
}

bool drng_fork_wipes(void *memory, size_t size)
{
    return !drng_fork_kernel_wipes || kernel_wipes(memory, size);
}

uint64_t drng_fork_enter(void)
{
    uint_least64_t generation = 0;
    const uint64_t next = atomic_fetch_add(&last_generation, 1) + 1;
    return atomic_compare_exchange_strong(&drng_fork_page->generation, &generation, next) ? next : generation;
}

uint64_t drng_fork_draw_token(void)
{
    uint_least64_t token = 0;
    const uint64_t next = atomic_fetch_add(&drng_family->last_token, 1) + 1;
    return atomic_compare_exchange_strong(&drng_fork_page->token, &token, next) ? next : token;
}

static void before_fork(void)
{
    atomic_store(&drng_fork_page->forked, 1);
}

/*
 * Without MADV_WIPEONFORK nothing marks a child as new, so it is wiped here, before it draws. The same where the kernel
 * has been told to wipe, and has not: CRIU before 4.2 restores the pages of a process without this advice. The page
 * itself tells, and no generation: the parent may draw for the first time between before_fork() and the fork.
 */
static void in_forked_child(void)
{
    if (atomic_load(&drng_fork_page->forked) == 0) {
        return;
    }
    memset(drng_fork_page, 0, sizeof(*drng_fork_page));
    for (struct drng_fork_watcher *w = atomic_load(&watchers); w != NULL; w = w->next) {
        w->wipe();
    }
}

static void open_once(void)
{
    const size_t page = drng_page_size();
    uint8_t *start = drng_page_start(room);
    drng_fork_page = (struct drng_fork_page *)(void *)start;
    drng_fork_kernel_wipes = kernel_wipes(start, page);
    atomic_store(&last_generation, 1);
    atomic_store(&drng_fork_page->generation, 1);
    /* Where this fails for want of memory, an older kernel may leave a hole there: nobody uses the page then. */
    void *shared =
        mmap(drng_page_start(family_room), page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    drng_family = shared != MAP_FAILED ? shared : &own_family;
    atomic_store(&drng_family->id, drng_os_clock_ns() ^ (uint64_t)getpid() << 40);
    /* Not the same in workers that each load the module after they were forked, and share a heap. */
    atomic_store(&drng_family->last_token, drng_os_clock_ns());
    children_are_wiped = pthread_atfork(before_fork, NULL, in_forked_child) == 0 || drng_fork_kernel_wipes;
}

/*
 * pthread_once() and not one of drng's locks: those work only after this. If a signal handler forks inside open_once(),
 * the C library runs it again in the child.
 */
bool drng_fork_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, open_once);
    return children_are_wiped;
}

void drng_fork_watch(struct drng_fork_watcher *watcher)
{
    for (struct drng_fork_watcher *w = atomic_load(&watchers); w != NULL; w = w->next) {
        if (w == watcher) {
            return;
        }
    }
    watcher->next = atomic_load(&watchers);
    atomic_store(&watchers, watcher);
}
