/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.h - tells whether this is a new process, and wipes what a new process must not inherit.
 *
 * A child of fork() or clone() starts with a copy of its parent's memory. If its generators went on from there, both
 * processes would output the same bytes. So every process has a generation, a number that none of its ancestors had,
 * and guard.h compares it.
 *
 * The generation lies in a page of the module's own data that the kernel wipes in a child (MADV_WIPEONFORK, Linux
 * 4.14). So reading it is one load and no system call, and it does not depend on process ids, which repeat across PID
 * namespaces. Where the kernel does not wipe, a handler of fork() does; a child of clone() is not noticed there, and
 * only request mixing parts it from its parent.
 *
 * The rest of the page holds what must be zero in a child, too, and is needed before there are slots: locks.
 *
 * Another page is shared by a family: the process that loaded the module, and its descendants. So what a child has
 * found is seen when the child has ended, and where one has lost time the others need not. A process that was taken
 * over can write anything there. So what is read there decides no test and disables nothing: it is shown, and may make
 * a process ask the next source of seeds sooner (noise.h).
 *
 * Siblings may have the same generation, and may find each other's objects where they share a heap (guard.h). So a
 * process has a token, too, which it draws from its family's page.
 */

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/machine/counters.h"
#include "mixing/machine/os.h"

/* ---- Locks that stay usable after a fork ---- */

/*
 * A lock lies in memory that is wiped in a child (a slot, or the page below). In glibc and musl a mutex of zeros is
 * unlocked, so a lock that another thread held at the fork is free in the child.
 *
 * A thread that ended under a lock would leave it held. So what may be a cancellation point, OpenSSL's default seed
 * source and foreign parents, is called where pthread_setcancelstate() has disabled that. Asynchronous cancellation
 * during a draw is not supported.
 */
struct drng_lock {
    pthread_mutex_t mutex;
    atomic_uintptr_t holder; /* pthread_self() of the thread that holds it; 0: none does */
};

/* False: this thread holds the lock already. It is refused, and not queued: it would wait for itself. */
static inline bool drng_lock(struct drng_lock *lock)
{
    const uintptr_t self = (uintptr_t)pthread_self();
    if (atomic_load_explicit(&lock->holder, memory_order_relaxed) == self) {
        return false;
    }
    (void)pthread_mutex_lock(&lock->mutex);
    atomic_store_explicit(&lock->holder, self, memory_order_relaxed);
    return true;
}

/*
 * Does nothing in a child that was forked since drng_lock(): there the lock was wiped, and is free. Where a handler
 * forks between the two steps, the child unlocks what is free, which does nothing in the C libraries of Linux.
 */
static inline void drng_unlock(struct drng_lock *lock)
{
    if (atomic_load_explicit(&lock->holder, memory_order_relaxed) == (uintptr_t)pthread_self()) {
        atomic_store_explicit(&lock->holder, 0, memory_order_relaxed);
        (void)pthread_mutex_unlock(&lock->mutex);
    }
}

/* Every lock that lies outside slots, in the order in which they are taken. */
enum drng_process_lock {
    DRNG_LOCK_LOAD,  /* held while the first instance loads or the last one unloads */
    DRNG_LOCK_PAIRS, /* held while a pair of generators is made (random_bytes.c) */
    DRNG_LOCK_TEXT,  /* guards the texts in the head of the counters that change after load, but libcrypto's */
    DRNG_LOCK_SLOTS, /* held while slots are mapped, or an object gets one of its own in this process */
    DRNG_LOCKS,
};

/* ---- What a fork wipes ---- */

struct drng_fork_page {
    atomic_uint_least64_t generation; /* 0: this process has not asked for it yet */
    atomic_uint_least64_t token;      /* the same */
    atomic_uint_least64_t epoch;      /* drng_epoch(), clone.h; 0: it must be looked for */
    atomic_uint forked;               /* 1: this process has called fork(), or its page is one that was not wiped */
    atomic_uint memory_lock;          /* enum drng_memory_lock (secmem.h) */
    struct drng_lock locks[DRNG_LOCKS];
};

/* From drng_fork_open() on. Without memory for its page each process is a family of its own. */
extern struct drng_fork_page *drng_fork_page;
extern struct drng_family *drng_family;

static inline struct drng_lock *drng_process_lock(enum drng_process_lock which)
{
    return &drng_fork_page->locks[which];
}

/* Whether the kernel wipes memory in a child when MADV_WIPEONFORK is set on it: drng_fork_open() has found out. */
extern bool drng_fork_kernel_wipes;

/* What one part of the module does in a new process. */
struct drng_fork_watcher {
    void (*wipe)(void); /* sets to zero what the kernel does not wipe; called only where the kernel does not */
    struct drng_fork_watcher *next;
};

/*
 * To be called before every other function here, which work whatever it returns. False: nothing would wipe a child's
 * memory, since neither the kernel does nor is there memory for a handler of fork(). Calls after the first only say so.
 */
bool drng_fork_open(void);

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
 * The token of this process, never 0: no relative has it, unless memory for the family's page could not be had, or a
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
