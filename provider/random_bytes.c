#include "provider/random_bytes.h"

#include <stdatomic.h>
#include <stdint.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "mixing/wipe.h"
#include "provider/drbg.h"
#include "provider/errors.h"
#include "provider/lock.h"

enum {
    CHILD_RESEED_REQUESTS = 1 << 16, /* libcrypto's own for public and private */
    CHILD_RESEED_INTERVAL = 7 * 60,  /* seconds */
};

/* One thread's generators, made when first used. Only that thread uses them; the lock is for the list. */
struct thread {
    struct drng_threads *threads;
    struct thread *next;
    const void *owner; /* the thread's own copy of `cache`, which no other living thread has */
    struct drng_drbg *drbg[2];
};

struct drng_threads {
    uint64_t id;           /* never used twice in a process, so a stale cache matches nothing */
    pthread_mutex_t *lock; /* in a slot */
    struct drng_drbg *primary;
    struct thread *first;
};

/* The thread's short way to its generators. */
static _Thread_local struct {
    uint64_t id;
    struct thread *thread;
} cache;

/* ---- The list. Each change is one store, so that a fork in between leaves it whole. ---- */

struct drng_threads *drng_threads_new(void)
{
    static atomic_uint_least64_t last_id;
    struct drng_threads *threads = OPENSSL_zalloc(sizeof(*threads));
    pthread_mutex_t *lock = drng_secmem_alloc();
    if (threads == NULL || lock == NULL) {
        drng_secmem_free(lock);
        OPENSSL_free(threads);
        return NULL;
    }
    threads->id = atomic_fetch_add(&last_id, 1) + 1;
    threads->lock = lock;
    return threads;
}

static void free_thread(struct thread *thread)
{
    drng_drbg_freectx(thread->drbg[OSSL_PROV_RANDOM_PUBLIC]);
    drng_drbg_freectx(thread->drbg[OSSL_PROV_RANDOM_PRIVATE]);
    OPENSSL_free(thread);
}

void drng_threads_free(struct drng_threads *threads)
{
    if (threads == NULL) {
        return;
    }
    while (threads->first != NULL) {
        struct thread *thread = threads->first;
        threads->first = thread->next;
        free_thread(thread);
    }
    drng_drbg_freectx(threads->primary);
    drng_secmem_free(threads->lock);
    OPENSSL_free(threads);
}

static struct thread *find(struct drng_threads *threads, const void *owner)
{
    struct thread *thread = threads->first;
    while (thread != NULL && thread->owner != owner) {
        thread = thread->next;
    }
    return thread;
}

static void link_thread(struct drng_threads *threads, struct thread *thread)
{
    if (drng_lock(threads->lock)) {
        thread->next = threads->first;
        threads->first = thread;
        drng_unlock(threads->lock);
    }
}

static void unlink_thread(struct drng_threads *threads, const struct thread *thread)
{
    struct thread **link = &threads->first;
    while (*link != NULL && *link != thread) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = thread->next;
    }
}

/* libcrypto calls this in the thread that ends. */
static void thread_ends(void *vthread)
{
    struct thread *thread = vthread;
    struct drng_threads *threads = thread->threads;

    if (cache.thread == thread) {
        cache.id = 0;
        cache.thread = NULL;
    }
    if (drng_lock(threads->lock)) {
        unlink_thread(threads, thread);
        drng_unlock(threads->lock);
        free_thread(thread);
    }
}

/* ---- Generators ---- */

static struct drng_drbg *new_drbg(struct drng_provctx *provctx, struct drng_drbg *parent)
{
    struct drng_drbg *drbg = drng_drbg_newctx(provctx, parent, parent != NULL ? drng_drbg_functions : NULL);
    if (drbg == NULL) {
        return NULL;
    }
    if (parent != NULL) {
        drbg->limits = (struct drng_reseed_limits){CHILD_RESEED_REQUESTS, CHILD_RESEED_INTERVAL};
    }
    return drbg;
}

/*
 * What is made here is made without the list's lock, and put into its place with it: libcrypto holds a lock of its own
 * while it calls thread_ends(), and takes that one for much that a new generator asks of it.
 */

/*
 * Puts `primary`, or nothing for NULL, where there is none yet; returns the one that is there. Of two threads that come
 * first at the same time, one makes the primary of both, and the other's is freed.
 */
static struct drng_drbg *settle_primary(struct drng_threads *threads, struct drng_drbg *primary)
{
    struct drng_drbg *first = NULL;
    if (drng_lock(threads->lock)) {
        if (threads->primary == NULL) {
            threads->primary = primary;
        }
        first = threads->primary;
        drng_unlock(threads->lock);
    }
    if (first != primary) {
        drng_drbg_freectx(primary);
    }
    return first;
}

static struct drng_drbg *primary_of(struct drng_provctx *provctx)
{
    struct drng_drbg *primary = settle_primary(provctx->threads, NULL);
    if (primary != NULL) {
        return primary;
    }
    primary = new_drbg(provctx, NULL);
    if (primary == NULL || !drng_drbg_enable_locking(primary)) {
        drng_drbg_freectx(primary);
        return NULL;
    }
    return settle_primary(provctx->threads, primary);
}

/* A thread whose end libcrypto would not tell gets no generators. */
static struct thread *new_thread(struct drng_provctx *provctx)
{
    struct drng_drbg *primary = primary_of(provctx);
    struct thread *thread = primary != NULL ? OPENSSL_zalloc(sizeof(*thread)) : NULL;
    if (thread == NULL) {
        return NULL;
    }
    thread->threads = provctx->threads;
    thread->owner = &cache;
    thread->drbg[OSSL_PROV_RANDOM_PUBLIC] = new_drbg(provctx, primary);
    thread->drbg[OSSL_PROV_RANDOM_PRIVATE] = new_drbg(provctx, primary);
    const struct drng_core *core = &provctx->core;
    if (thread->drbg[OSSL_PROV_RANDOM_PUBLIC] == NULL || thread->drbg[OSSL_PROV_RANDOM_PRIVATE] == NULL ||
        core->thread_start == NULL || core->thread_start(core->handle, thread_ends, thread) != 1) {
        free_thread(thread);
        return NULL;
    }
    return thread;
}

/* The calling thread's own, which no other thread adds or takes away; NULL: it has none. */
static struct thread *find_own(struct drng_threads *threads)
{
    struct thread *thread = NULL;
    if (drng_lock(threads->lock)) {
        thread = find(threads, &cache);
        drng_unlock(threads->lock);
    }
    return thread;
}

static struct thread *find_or_make(struct drng_provctx *provctx)
{
    struct drng_threads *threads = provctx->threads;
    struct thread *thread = find_own(threads);
    if (thread == NULL) {
        thread = new_thread(provctx);
        if (thread == NULL) {
            drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
            return NULL;
        }
        link_thread(threads, thread);
    }
    cache.id = threads->id;
    cache.thread = thread;
    return thread;
}

int drng_random_bytes(void *vprovctx, int which, void *buffer, size_t len, unsigned strength)
{
    struct drng_provctx *provctx = vprovctx;
    unsigned char *out = buffer;
    const bool known = cache.id == provctx->threads->id;
    struct thread *thread = known ? cache.thread : find_or_make(provctx);
    struct drng_drbg *drbg = NULL;

    if (thread != NULL) {
        drbg = thread->drbg[which == OSSL_PROV_RANDOM_PRIVATE ? OSSL_PROV_RANDOM_PRIVATE : OSSL_PROV_RANDOM_PUBLIC];
    }
    for (size_t done = 0; drbg != NULL && done < len;) {
        const size_t part = len - done < DRNG_DRBG_MAX_REQUEST ? len - done : DRNG_DRBG_MAX_REQUEST;
        if (!drng_drbg_generate(drbg, out + done, part, strength, 0, NULL, 0)) {
            drbg = NULL;
        }
        done += part;
    }
    if (drbg == NULL) {
        drng_wipe(buffer, len);
        return 0;
    }
    return 1;
}
