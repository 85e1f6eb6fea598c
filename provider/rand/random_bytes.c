/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread has a table, to which one thread-local pointer leads: at each instance's index its generators under that
 * instance. Only the thread itself puts generators there. They are freed when the thread ends, by a destructor of
 * drng's own, or when the instance does, whichever is first; both happen under one lock of the process. So neither
 * depends on libcrypto's reports of ended threads, which it takes back before or after it frees an instance, as it
 * likes. The module stays loaded, so the destructor is always there.
 */
#include "provider/rand/random_bytes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mixing/machine/wipe.h"
#include "provider/errors.h"
#include "provider/provctx.h"
#include "provider/rand/drbg.h"
#include "provider/rand/instruction_rand.h"

enum {
    CHILD_RESEED_REQUESTS = 1 << 16, /* libcrypto's, for its public and private generators */
    CHILD_RESEED_INTERVAL = 7 * 60,  /* seconds */
};

struct table;

/*
 * The generators of all threads of one instance. This and what follows is memory of the C library, and none of the
 * core's: that may lie where processes share it, and each process has threads of its own.
 */
struct drng_threads {
    size_t index;                /* its place in each thread's table; no other living instance has it */
    struct drng_threads *next;   /* instances, by their index */
    struct drng_thread *threads; /* those that have drawn */
    struct drng_generator primary;
};

/* The generators of one thread under one instance. */
struct drng_thread {
    struct drng_provctx *provctx;
    struct table *table;              /* of the thread */
    struct drng_thread *next, **link; /* of the instance; *link is this one */
    struct drng_generator generator[2];
};

struct table {
    struct table *outgrown; /* a smaller one, of which a draw that a handler interrupted may still be reading */
    size_t size;
    struct drng_thread *entry[]; /* NULL: none yet, or no more */
};

/* This thread's table. Thread-local for speed; the pthread key holds the same pointer, so that its destructor frees it.
 */
static _Thread_local struct table *mine;
static pthread_key_t key;

/* Guarded by DRNG_LOCK_THREADS. */
static bool has_key;
static struct drng_threads *instances;
static uint64_t linked_in; /* the generation in which each `link` is known to be right */

/* Under DRNG_LOCK_THREADS. If another thread forks here, the child can still follow `next`; it may miss one entry. */
static void free_thread(struct drng_thread *thread)
{
    thread->table->entry[thread->provctx->threads->index] = NULL;
    if (thread->next != NULL) {
        thread->next->link = thread->link;
    }
    atomic_signal_fence(memory_order_seq_cst);
    *thread->link = thread->next;
    drng_drbg_discard(&thread->generator[OSSL_PROV_RANDOM_PUBLIC]);
    drng_drbg_discard(&thread->generator[OSSL_PROV_RANDOM_PRIVATE]);
    free(thread);
}

/* In a child: `link` may be stale in those whose neighbours came or went at the fork. */
static void mend_links(void)
{
    for (struct drng_threads *threads = instances; threads != NULL; threads = threads->next) {
        struct drng_thread **link = &threads->threads;
        for (; *link != NULL; link = &(*link)->next) {
            (*link)->link = link;
        }
    }
}

/* Takes DRNG_LOCK_THREADS under the guard. False: this is a signal handler that interrupted a call of its thread. */
static bool begin(struct drng_guard *guard)
{
    if (!drng_guard_enter(guard)) {
        return false;
    }
    (void)drng_guard_note(DRNG_ALLOCATES);
    if (!drng_lock(drng_process_lock(DRNG_LOCK_THREADS))) {
        (void)drng_guard_note(guard->before);
        return false;
    }
    if (linked_in != drng_fork_generation()) {
        mend_links();
        linked_in = drng_fork_generation();
    }
    return true;
}

static void end(const struct drng_guard *guard)
{
    drng_unlock(drng_process_lock(DRNG_LOCK_THREADS));
    (void)drng_guard_note(guard->before);
}

/* A destructor of the program's that draws after this one gets new generators, and this one is called again. */
static void thread_ends(void *vtable)
{
    struct table *table = vtable;
    struct drng_guard guard;
    mine = NULL;
    if (!begin(&guard)) {
        return;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->entry[i] != NULL) {
            free_thread(table->entry[i]);
        }
    }
    while (table != NULL) {
        struct table *outgrown = table->outgrown;
        free(table);
        table = outgrown;
    }
    end(&guard);
}

/* ---- Instances ---- */

bool drng_threads_open(struct drng_provctx *provctx)
{
    struct drng_guard guard;
    struct drng_threads *threads = calloc(1, sizeof(*threads));
    if (threads == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        return false;
    }
    threads->primary.source = &drng_root_source;
    threads->primary.source_arg = provctx;
    const bool made = drng_drbg_prepare(provctx, &threads->primary, true);
    if (!made || !begin(&guard)) {
        drng_raise(&provctx->core, made ? DRNG_R_BUSY : DRNG_R_OUT_OF_MEMORY, NULL);
        drng_drbg_discard(&threads->primary);
        free(threads);
        return false;
    }
    drng_generator_enable_locking(&threads->primary);
    struct drng_threads **place = &instances;
    for (threads->index = 0; *place != NULL && (*place)->index == threads->index; threads->index++) {
        place = &(*place)->next;
    }
    threads->next = *place;
    *place = threads;
    provctx->threads = threads;
    end(&guard);
    return true;
}

bool drng_threads_close(struct drng_provctx *provctx)
{
    struct drng_threads *threads = provctx->threads;
    struct drng_guard guard;
    if (!begin(&guard)) {
        return false;
    }
    for (struct drng_thread *thread = threads->threads, *next = NULL; thread != NULL; thread = next) {
        next = thread->next;
        free_thread(thread);
    }
    struct drng_threads **place = &instances;
    while (*place != threads) {
        place = &(*place)->next;
    }
    *place = threads->next;
    end(&guard);
    drng_drbg_discard(&threads->primary);
    free(threads);
    return true;
}

/* ---- The first draw of a thread under an instance ---- */

/*
 * This thread's table, with a place for the index. The key is made for the first thread that draws here, so that a
 * program with no key left can use all but random_bytes. NULL: no memory, or no key.
 */
static struct table *table_for(size_t index)
{
    struct table *old = mine;
    const size_t size = index + 1;
    if (old != NULL && index < old->size) {
        return old;
    }
    has_key = has_key || pthread_key_create(&key, thread_ends) == 0;
    if (!has_key) {
        return NULL;
    }
    struct table *table = calloc(1, sizeof(*table) + size * sizeof(struct drng_thread *));
    if (table == NULL || pthread_setspecific(key, table) != 0) {
        free(table);
        return NULL;
    }
    table->outgrown = old;
    table->size = size;
    for (size_t i = 0; old != NULL && i < old->size; i++) {
        table->entry[i] = old->entry[i];
        if (table->entry[i] != NULL) {
            table->entry[i]->table = table;
        }
    }
    mine = table;
    return table;
}

/* This thread's generators under the instance of that index; NULL: it has none yet. */
static inline struct drng_thread *thread_at(size_t index)
{
    const struct table *table = mine;
    return table != NULL && index < table->size ? table->entry[index] : NULL;
}

/* Under DRNG_LOCK_THREADS. NULL: no memory. As to forks by other threads: free_thread(). */
static struct drng_thread *make_thread(struct drng_provctx *provctx)
{
    struct drng_threads *threads = provctx->threads;
    struct table *table = table_for(threads->index);
    struct drng_thread *thread = table != NULL ? calloc(1, sizeof(*thread)) : NULL;
    bool made = thread != NULL;
    for (unsigned which = 0; which < 2 && made; which++) {
        struct drng_generator *g = &thread->generator[which];
        g->parent = &threads->primary;
        made = drng_drbg_prepare(provctx, g, true);
        g->config.limits.requests = CHILD_RESEED_REQUESTS;
        g->config.limits.interval = CHILD_RESEED_INTERVAL;
    }
    if (!made) {
        if (thread != NULL) {
            drng_drbg_discard(&thread->generator[0]);
            drng_drbg_discard(&thread->generator[1]);
        }
        free(thread);
        return NULL;
    }
    thread->provctx = provctx;
    thread->table = table;
    thread->next = threads->threads;
    thread->link = &threads->threads;
    atomic_signal_fence(memory_order_seq_cst);
    threads->threads = thread;
    atomic_signal_fence(memory_order_seq_cst);
    if (thread->next != NULL) {
        thread->next->link = &thread->next;
    }
    table->entry[threads->index] = thread;
    return thread;
}

/* NULL, with an error in the queue. A handler that came before this call has made the generators already. */
static __attribute__((noinline)) struct drng_thread *new_thread(struct drng_provctx *provctx)
{
    struct drng_guard guard;
    if (!begin(&guard)) {
        (void)drng_raise_result(&provctx->core, DRNG_BUSY, true);
        return NULL;
    }
    struct drng_thread *thread = thread_at(provctx->threads->index);
    if (thread == NULL) {
        thread = make_thread(provctx);
    }
    end(&guard);
    if (thread == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, "for this thread's generators, or no pthread key is left");
    }
    return thread;
}

/* ---- Draws ---- */

int drng_random_bytes(void *vprovctx, int which, void *buffer, size_t len, unsigned strength)
{
    struct drng_provctx *provctx = vprovctx;
    struct drng_thread *thread = thread_at(provctx->threads->index);
    if (__builtin_expect(thread == NULL, 0)) {
        thread = new_thread(provctx);
    }
    if (thread == NULL) {
        drng_wipe(buffer, len);
        return 0;
    }
    struct drng_generator *g =
        &thread->generator[which == OSSL_PROV_RANDOM_PRIVATE ? OSSL_PROV_RANDOM_PRIVATE : OSSL_PROV_RANDOM_PUBLIC];
    const enum drng_result result =
        drng_generator_generate(g, buffer, len, strength, false, (struct drng_bytes){NULL, 0});
    return __builtin_expect(result == DRNG_OK, 1) ? 1 : drng_raise_result(&provctx->core, result, true);
}
