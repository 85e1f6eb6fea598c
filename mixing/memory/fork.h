/*
 * fork.h - is this a new process, and what must not live on in it.
 *
 * A child of fork() or clone() starts with a copy of its parent's memory. Its generators must not go on from there:
 * both would put out the same bytes. So every process has a generation, a number that no process before it in the line
 * of its ancestors had. A generator remembers the generation it was seeded in and asks again before and after each
 * request: after, because a signal handler may fork in the middle of one.
 *
 * The number lies in a page of the module's own data that the kernel wipes in a child (MADV_WIPEONFORK, Linux 4.14), so
 * that asking is one load and no system call, and process ids, which repeat across PID namespaces, do not matter. Where
 * the kernel does not wipe, asking is getpid().
 *
 * The rest of the page is for what else must be zero in a child and is needed before there are slots: locks (lock.h).
 */

#ifndef DRNG_FORK_H
#define DRNG_FORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRNG_FORK_MORE = 1024 };

struct drng_fork_page {
    atomic_uint_least64_t generation;          /* 0: nobody has asked in this process yet */
    _Alignas(16) uint8_t more[DRNG_FORK_MORE]; /* of lock.h */
};

extern struct drng_fork_page *drng_fork_page;

/* Whether the kernel wipes in a child what it was asked to; settled by the first open. */
extern bool drng_fork_kernel_wipes;

/* What a part of the module does in a new process. Each may be NULL. */
struct drng_fork_watcher {
    void (*wipe)(void);    /* sets to zero what the kernel would; called only where it does not */
    void (*entered)(void); /* once in a new process, when it asks for its generation for the first time */
    struct drng_fork_watcher *next;
};

/* To be called before anything else here; again, it does nothing. It cannot fail. */
void drng_fork_open(void);

/* Registers a watcher for as long as the module is there; again, it does nothing. Under DRNG_LOCK_LOAD. */
void drng_fork_watch(struct drng_fork_watcher *watcher);

/* Has the kernel wipe these whole pages in a child. True where it does, or where `wipe` is to do it. */
bool drng_fork_wipes(void *memory, size_t size);

/* For drng_fork_generation(). */
uint64_t drng_fork_enter(void);

/* This process's generation, never 0. Where the kernel does not wipe, a new process is wiped here. */
static inline uint64_t drng_fork_generation(void)
{
    if (__builtin_expect(!drng_fork_kernel_wipes, 0)) {
        return drng_fork_enter();
    }
    const uint64_t generation = atomic_load_explicit(&drng_fork_page->generation, memory_order_relaxed);
    return __builtin_expect(generation != 0, 1) ? generation : drng_fork_enter();
}

/*
 * Whether this still is the process of that generation. What came before in the program has been done when this looks,
 * which is all that a fork by this very thread asks for.
 */
static inline bool drng_fork_is_still(uint64_t generation)
{
    atomic_signal_fence(memory_order_seq_cst);
    return drng_fork_generation() == generation;
}

#endif
