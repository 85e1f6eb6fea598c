#define _GNU_SOURCE

#include "mixing/memory/fork.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mixing/memory/cancel.h"
#include "mixing/memory/pages.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* of Linux 4.14; the C library's headers may be older */
#endif

_Static_assert(sizeof(struct drng_fork_page) <= 4096, "the page for what a fork wipes is too small");

/* Holds one whole page, whatever address the loader gives the array. */
static uint8_t room[2 * DRNG_LARGEST_PAGE];

struct drng_fork_page *drng_fork_page;
bool drng_fork_kernel_wipes;

/* The generation of the process that asked last. Ordinary memory, so that a child counts on from its parent. */
static atomic_uint_least64_t last_generation;

/*
 * Used where the kernel does not wipe: the id of the process that this memory belongs to, or, while a process wipes it,
 * minus that process's id.
 */
static atomic_int owner;
static atomic_uint_least64_t owners_generation;

static _Atomic(struct drng_fork_watcher *) watchers;

/* ---- The kernel ---- */

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

/* ---- A new process ---- */

static void call_entered(void)
{
    for (struct drng_fork_watcher *w = atomic_load(&watchers); w != NULL; w = w->next) {
        if (w->entered != NULL) {
            w->entered();
        }
    }
}

/* The generation is set before the watchers are called, since they ask for it. */
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

/* All but those that an instruction itself raises: where these are blocked, the kernel ends the process. */
static void block_signals(sigset_t *before)
{
    static const int raised_by_code[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    sigset_t others;
    (void)sigfillset(&others);
    for (size_t i = 0; i < sizeof(raised_by_code) / sizeof(*raised_by_code); i++) {
        (void)sigdelset(&others, raised_by_code[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &others, before);
}

/*
 * Every thread of the new process comes here. One of them wipes; the others wait for it. So it is not interrupted: a
 * signal handler that draws would wait for the code under it, and the others would wait for ever if it were cancelled.
 */
static void become_owner(int self)
{
    const struct drng_cancel cancel = drng_cancel_disable();
    sigset_t before;
    block_signals(&before);
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
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    drng_cancel_restore(cancel);
}

static uint64_t enter_by_process_id(void)
{
    const int self = (int)getpid();
    if (atomic_load(&owner) != self) {
        become_owner(self);
    }
    return atomic_load(&owners_generation);
}

uint64_t drng_fork_enter(void)
{
    return drng_fork_kernel_wipes ? enter_wiped() : enter_by_process_id();
}

/* Ordinary memory: the generation of the process that forks. */
static atomic_uint_least64_t forking_generation;

static void before_fork(void)
{
    atomic_store(&forking_generation, atomic_load(&drng_fork_page->generation));
}

static bool is_still_the_parents(void)
{
    const uint64_t generation = atomic_load(&drng_fork_page->generation);
    return generation != 0 && generation == atomic_load(&forking_generation);
}

/*
 * Without MADV_WIPEONFORK nothing marks a child as new, so it is wiped here, before it draws. The same where the kernel
 * has been told to wipe, and has not: CRIU before 4.2 restores the pages of a process without this advice. A
 * handler of the program may have drawn in the child before this one is called: then the generation is the child's own.
 */
static void in_forked_child(void)
{
    if (!drng_fork_kernel_wipes) {
        atomic_store(&owner, 0); /* both may have the same id: each is the first of a PID namespace */
        (void)enter_by_process_id();
    } else if (is_still_the_parents()) {
        wipe_all();
    }
}

/* ---- Opening ---- */

static void open_once(void)
{
    const size_t page = drng_page_size();
    uint8_t *start = drng_page_start(room);
    drng_fork_page = (struct drng_fork_page *)(void *)start;
    drng_fork_kernel_wipes = page <= DRNG_LARGEST_PAGE && kernel_wipes(start, page);
    atomic_store(&last_generation, 1);
    atomic_store(&drng_fork_page->generation, 1);
    atomic_store(&owners_generation, 1);
    atomic_store(&owner, (int)getpid());
    (void)pthread_atfork(before_fork, NULL, in_forked_child);
}

/*
 * pthread_once() and not one of drng's locks: those work only after this. If a signal handler forks inside open_once(),
 * the C library runs it again in the child.
 */
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
