/*
 * fork.h - tells whether this is a new process, and wipes what a new process must not inherit.
 *
 * A child of fork() or clone() starts with a copy of its parent's memory. If its generators went on from there, both
 * processes would output the same bytes. So every process has a generation, a number that none of its ancestors had. A
 * generator remembers the generation in which it was seeded, and compares it before and after each request: after,
 * because a signal handler may fork in the middle of one.
 *
 * The generation lies in a page of the module's own data that the kernel wipes in a child (MADV_WIPEONFORK, Linux
 * 4.14). So reading it is one load and no system call, and it does not depend on process ids, which repeat across PID
 * namespaces. Where the kernel does not wipe, a handler of fork() does; a child of clone() is not noticed there, and
 * only request mixing parts it from its parent.
 *
 * Siblings may have the same generation. Where processes share a heap, one of them may find an object there that a
 * sibling has made, with the address of a slot that lies in the sibling's own memory. So a process has a token, too,
 * which is drawn from a page that all descendants of the process that loaded the module share.
 *
 * The rest of the page holds what must be zero in a child and is needed before there are slots: the locks of lock.h.
 */

#ifndef DRNG_FORK_H
#define DRNG_FORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* ---- Whole pages: the kernel wipes, locks and protects nothing smaller ---- */

enum { DRNG_LARGEST_PAGE = 1 << 16 }; /* bytes, on arm64 and ppc64; on x86-64 a page has 4,096 */

static inline size_t drng_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* `size` rounded up to whole pages. */
static inline size_t drng_whole_pages(size_t size)
{
    const size_t page = drng_page_size();
    return (size + page - 1) / page * page;
}

/* The first address from `room` on at which a page begins. */
static inline uint8_t *drng_page_start(uint8_t *room)
{
    const size_t page = drng_page_size();
    return room + (page - (uintptr_t)room % page) % page;
}

/* ---- What a fork wipes ---- */

enum { DRNG_FORK_MORE = 1024 };

struct drng_fork_page {
    atomic_uint_least64_t generation;          /* 0: this process has not asked for it yet */
    atomic_uint_least64_t token;               /* the same */
    _Alignas(16) uint8_t more[DRNG_FORK_MORE]; /* the locks of lock.h */
};

extern struct drng_fork_page *drng_fork_page;

/*
 * Whether the kernel wipes memory in a child when MADV_WIPEONFORK is set on it. The first drng_fork_open() finds out.
 */
extern bool drng_fork_kernel_wipes;

/* What one part of the module does in a new process. Either function may be NULL. */
struct drng_fork_watcher {
    void (*wipe)(void);    /* sets to zero what the kernel does not wipe; called only where the kernel does not */
    void (*entered)(void); /* called once in a new process, when it first asks for its generation */
    struct drng_fork_watcher *next;
};

/* To be called before every other function here. It cannot fail; every call after the first does nothing. */
void drng_fork_open(void);

/*
 * Registers a watcher, which then stays registered as long as the module is loaded. Registering it again does nothing.
 * To be called under DRNG_LOCK_LOAD.
 */
void drng_fork_watch(struct drng_fork_watcher *watcher);

/* Asks the kernel to wipe these whole pages in a child. True: the kernel does, or a watcher's `wipe` has to. */
bool drng_fork_wipes(void *memory, size_t size);

/* The slow paths of drng_fork_token() and drng_fork_generation(). */
uint64_t drng_fork_draw_token(void);
uint64_t drng_fork_enter(void);

/*
 * The token of this process, never 0: no relative has it, unless memory for the shared page could not be had, or a
 * relative has written there. So it decides which slot a process takes, and never whether what is in the slot is new.
 */
static inline uint64_t drng_fork_token(void)
{
    const uint64_t token = atomic_load_explicit(&drng_fork_page->token, memory_order_relaxed);
    return __builtin_expect(token != 0, 1) ? token : drng_fork_draw_token();
}

/*
 * The generation of this process, never 0. The compiler moves no access to memory from before the call behind it, so
 * a fork by this very thread is not missed.
 */
static inline uint64_t drng_fork_generation(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    const uint64_t generation = atomic_load_explicit(&drng_fork_page->generation, memory_order_relaxed);
    return __builtin_expect(generation != 0, 1) ? generation : drng_fork_enter();
}

#endif
