#define _GNU_SOURCE

#include "mixing/memory/fork.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14, whatever the headers are */
#endif

enum { LARGEST_PAGE = 1 << 16 }; /* of arm64 and ppc64; the page of x86-64 is 4,096 bytes */

_Static_assert(sizeof(struct drng_fork_page) <= 4096, "the page for what a fork wipes is too small");

/* Room for one whole page, wherever the loader puts it. */
static uint8_t room[2 * LARGEST_PAGE];

struct drng_fork_page *drng_fork_page;
bool drng_fork_kernel_wipes;

/* The generation of the last process that asked; in ordinary memory, so that a child counts on. */
static atomic_uint_least64_t last_generation;

/* Where the kernel does not wipe: the process that this memory belongs to, or minus the one that is wiping it. */
static atomic_int owner;
static atomic_uint_least64_t owners_generation;

static _Atomic(struct drng_fork_watcher *) watchers;

/* ---- The kernel ---- */

/* An emulator that takes any advice for success (QEMU's user mode) would take this one too, and not follow it. */
static bool kernel_wipes(void *memory, size_t size)
{
    const int no_such_advice = -1;
    return madvise(memory, size, no_such_advice) != 0 && madvise(memory, size, MADV_WIPEONFORK) == 0;
}

bool drng_fork_wipes(void *memory, size_t size)
{
    return !drng_fork_kernel_wipes || kernel_wipes(memory, size);
}

/* ---- A new process ---- */

static void call_entered(void)
{
    for (struct drng_fork_watcher *w = atomic_load(&watchers); w != NULL; w = w->next) {
        if (w->entered != NULL) {
            w->entered();
        }
    }
}

/* The generation is there before anybody is told of it: who is told asks for it again. */
static uint64_t enter_wiped(void)
{
    uint_least64_t generation = 0;
    const uint64_t next = atomic_fetch_add(&last_generation, 1) + 1;
    if (!atomic_compare_exchange_strong(&drng_fork_page->generation, &generation, next)) {
        return generation;
    }
    call_entered();
    return next;
}

static void wipe_all(void)
{
    memset(drng_fork_page, 0, sizeof(*drng_fork_page));
    for (struct drng_fork_watcher *w = atomic_load(&watchers); w != NULL; w = w->next) {
        if (w->wipe != NULL) {
            w->wipe();
        }
    }
}

/* Every thread of the new process comes through here: one wipes, the others wait for it. */
static uint64_t enter_by_process_id(void)
{
    const int self = (int)getpid();
    int seen = atomic_load(&owner);
    while (seen != self) {
        if (seen == -self) {
            (void)sched_yield();
            seen = atomic_load(&owner);
        } else if (atomic_compare_exchange_weak(&owner, &seen, -self)) {
            wipe_all();
            atomic_store(&owners_generation, atomic_fetch_add(&last_generation, 1) + 1);
            atomic_store(&owner, self);
            call_entered();
            seen = self;
        }
    }
    return atomic_load(&owners_generation);
}

uint64_t drng_fork_enter(void)
{
    return drng_fork_kernel_wipes ? enter_wiped() : enter_by_process_id();
}

/* At once, since nothing else tells a forked child from its parent before it draws. */
static void in_forked_child(void)
{
    if (!drng_fork_kernel_wipes) {
        (void)enter_by_process_id();
    }
}

/* ---- Opening ---- */

static void open_once(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *start = room + (page - (uintptr_t)room % page) % page;
    drng_fork_page = (struct drng_fork_page *)(void *)start;
    drng_fork_kernel_wipes = page <= LARGEST_PAGE && kernel_wipes(start, page);
    atomic_store(&last_generation, 1);
    atomic_store(&drng_fork_page->generation, 1);
    atomic_store(&owners_generation, 1);
    atomic_store(&owner, (int)getpid());
    (void)pthread_atfork(NULL, NULL, in_forked_child);
}

/* Not under a lock of ours: this is what makes them good. A fork in the middle has the C library run it again. */
void drng_fork_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, open_once);
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
