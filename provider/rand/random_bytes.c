#include "provider/rand/random_bytes.h"

#include <stdatomic.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/rand/drbg.h"
#include "provider/rand/thread_table.h"

enum {
    CHILD_RESEED_REQUESTS = 1 << 16, /* libcrypto's, for its public and private generators */
    CHILD_RESEED_INTERVAL = 7 * 60,  /* seconds */
};

struct drng_threads {
    const struct drng_core *core; /* all memory here is this core's */
    uint64_t id;                  /* never used twice in a process, so an outdated place matches nothing */
    struct drng_lock *lock;       /* of the table and the primary; in a slot */
    struct drng_drbg *primary;
    struct drng_thread_table *table; /* NULL: no thread has drawn yet */
};

/*
 * Where this thread finds its generators without the lock, for a few library contexts: by the id, which stands on both
 * sides of them. A signal handler that draws under another context may put that one's in the same place while this
 * context's are read or written; the two ids then differ.
 */
enum { PLACES = 8 };
static _Thread_local struct place {
    volatile uint64_t id;
    struct drng_drbg *volatile drbg[2];
    volatile uint64_t same_id;
} places[PLACES];

/* ---- Which threads have generators ---- */

static bool link_thread(struct drng_threads *threads, struct drng_thread *thread)
{
    if (!drng_lock(threads->lock)) {
        return false;
    }
    const bool linked = drng_thread_table_insert(threads->core, &threads->table, thread);
    drng_unlock(threads->lock);
    return linked;
}

/* False: this is a signal handler that interrupted the holder of the lock. The entry stays until the process ends. */
static bool unlink_thread(struct drng_threads *threads, const struct drng_thread *thread)
{
    if (!drng_lock(threads->lock)) {
        return false;
    }
    drng_thread_table_delete(threads->core, &threads->table, thread);
    drng_unlock(threads->lock);
    return true;
}

/* ---- Threads ---- */

struct drng_threads *drng_threads_new(const struct drng_core *core)
{
    static atomic_uint_least64_t last_id;
    struct drng_threads *threads = drng_zalloc(core, sizeof(*threads));
    struct drng_lock *lock = drng_secmem_alloc();
    if (threads == NULL || lock == NULL) {
        drng_secmem_free(lock);
        drng_free(core, threads);
        return NULL;
    }
    threads->core = core;
    threads->id = atomic_fetch_add(&last_id, 1) + 1;
    threads->lock = lock;
    return threads;
}

uint64_t drng_threads_id(const struct drng_threads *threads)
{
    return threads->id;
}

static void free_thread(struct drng_thread *thread)
{
    drng_drbg_freectx(thread->drbg[OSSL_PROV_RANDOM_PUBLIC]);
    drng_drbg_freectx(thread->drbg[OSSL_PROV_RANDOM_PRIVATE]);
    drng_free(thread->threads->core, thread);
}

void drng_threads_free(struct drng_threads *threads)
{
    if (threads == NULL) {
        return;
    }
    drng_thread_table_free(threads->core, threads->table, free_thread);
    drng_drbg_freectx(threads->primary);
    drng_secmem_free(threads->lock);
    drng_free(threads->core, threads);
}

static struct place *place_for(uint64_t id)
{
    return &places[id % PLACES];
}

static void remember(const struct drng_thread *thread)
{
    const uint64_t id = thread->threads->id;
    struct place *place = place_for(id);
    place->id = id;
    place->drbg[OSSL_PROV_RANDOM_PUBLIC] = thread->drbg[OSSL_PROV_RANDOM_PUBLIC];
    place->drbg[OSSL_PROV_RANDOM_PRIVATE] = thread->drbg[OSSL_PROV_RANDOM_PRIVATE];
    place->same_id = id;
}

/*
 * NULL: this thread has none under this context, or does not remember them. The ids are right while a signal handler
 * has interrupted remember() for another context, though not all is back in its place: so the generator is asked, too.
 * It is not freed: its context is in remember(), or it is the one that was asked for.
 */
static inline struct drng_drbg *remembered(const struct drng_provctx *provctx, int which)
{
    const struct place *place = place_for(provctx->threads_id);
    const bool before = place->id == provctx->threads_id;
    struct drng_drbg *drbg = place->drbg[which];
    const bool after = place->same_id == provctx->threads_id;
    return __builtin_expect(before && after && drbg != NULL && drbg->provctx == provctx, 1) ? drbg : NULL;
}

static void forget(const struct drng_thread *thread)
{
    struct place *place = place_for(thread->threads->id);
    if (place->id == thread->threads->id) {
        place->id = 0;
    }
}

/* libcrypto calls this in a thread that ends. */
static void thread_ends(void *vthread)
{
    struct drng_thread *thread = vthread;
    forget(thread);
    if (unlink_thread(thread->threads, thread)) {
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
 * Lock order: no generator is made under threads->lock. libcrypto holds a lock of its own when it calls thread_ends(),
 * which takes threads->lock, and making a generator may take that lock of libcrypto's.
 */

/* NULL: no thread has drawn yet, or this is a signal handler that interrupted the holder of the lock. */
static struct drng_drbg *current_primary(struct drng_threads *threads)
{
    struct drng_drbg *primary = NULL;
    if (drng_lock(threads->lock)) {
        primary = threads->primary;
        drng_unlock(threads->lock);
    }
    return primary;
}

/*
 * Makes `primary` the primary of all threads, and returns it. If another thread was first, frees it, and returns that
 * thread's. NULL in a signal handler that interrupted the holder of the lock.
 */
static struct drng_drbg *install_primary(struct drng_threads *threads, struct drng_drbg *primary)
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
    struct drng_drbg *primary = current_primary(provctx->threads);
    if (primary != NULL) {
        return primary;
    }
    primary = new_drbg(provctx, NULL);
    if (primary == NULL || !drng_drbg_enable_locking(primary)) {
        drng_drbg_freectx(primary);
        return NULL;
    }
    return install_primary(provctx->threads, primary);
}

static bool make_generators(struct drng_provctx *provctx, struct drng_thread *thread)
{
    struct drng_drbg *primary = primary_of(provctx);
    if (primary == NULL) {
        return false;
    }
    thread->drbg[OSSL_PROV_RANDOM_PUBLIC] = new_drbg(provctx, primary);
    thread->drbg[OSSL_PROV_RANDOM_PRIVATE] = new_drbg(provctx, primary);
    return thread->drbg[OSSL_PROV_RANDOM_PUBLIC] != NULL && thread->drbg[OSSL_PROV_RANDOM_PRIVATE] != NULL;
}

/* If libcrypto would not report the end of the thread, the thread gets no generators. */
static bool register_thread(const struct drng_core *core, struct drng_thread *thread)
{
    if (core->thread_start == NULL || !link_thread(thread->threads, thread)) {
        return false;
    }
    if (core->thread_start(core->handle, thread_ends, thread) != 1) {
        (void)unlink_thread(thread->threads, thread);
        return false;
    }
    return true;
}

static struct drng_thread *new_thread(struct drng_provctx *provctx)
{
    struct drng_thread *thread = drng_zalloc(&provctx->core, sizeof(*thread));
    if (thread == NULL) {
        return NULL;
    }
    thread->threads = provctx->threads;
    thread->owner = places;
    if (!make_generators(provctx, thread) || !register_thread(&provctx->core, thread)) {
        free_thread(thread);
        return NULL;
    }
    return thread;
}

/*
 * Finds the calling thread's generators, which no other thread adds or removes; NULL: it has none yet. False: this is a
 * signal handler that interrupted the holder of the lock.
 */
static bool find_own(struct drng_threads *threads, struct drng_thread **thread)
{
    if (!drng_lock(threads->lock)) {
        return false;
    }
    *thread = drng_thread_table_find(threads->table, places);
    drng_unlock(threads->lock);
    return true;
}

static struct drng_thread *find_or_make(struct drng_provctx *provctx)
{
    struct drng_threads *threads = provctx->threads;
    struct drng_thread *thread = NULL;
    if (!find_own(threads, &thread)) {
        drng_raise(&provctx->core, DRNG_R_BUSY, "a signal handler came while its thread made its generators");
        return NULL;
    }
    if (thread == NULL) {
        thread = new_thread(provctx);
        if (thread == NULL) {
            drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
            return NULL;
        }
    }
    remember(thread);
    return thread;
}

/* Not inlined: a request is not to wait for what its slow path saves. NULL: an error is in the queue. */
static __attribute__((noinline)) struct drng_drbg *look_further(struct drng_provctx *provctx, int which)
{
    const struct drng_thread *thread = find_or_make(provctx);
    return thread != NULL ? thread->drbg[which] : NULL;
}

static bool try_parts(struct drng_drbg *drbg, unsigned char *out, size_t len, unsigned strength)
{
    bool served = true;
    for (size_t done = 0; served && done < len;) {
        const size_t part = len - done < DRNG_DRBG_MAX_REQUEST ? len - done : DRNG_DRBG_MAX_REQUEST;
        served = drng_drbg_generate(drbg, out + done, part, strength, 0, NULL, 0) == 1;
        done += part;
    }
    return served;
}

/* A child that is forked between two parts, or a copy of the machine, begins anew: it has its original's first parts.
 */
static __attribute__((noinline)) bool generate_parts(struct drng_drbg *drbg, unsigned char *out, size_t len,
                                                     unsigned strength)
{
    uint64_t epoch = 0;
    bool served = false;
    do {
        epoch = drng_epoch();
        served = try_parts(drbg, out, len, strength);
    } while (!drng_epoch_is_still(epoch));
    if (!served) {
        drng_wipe(out, len);
    }
    return served;
}

int drng_random_bytes(void *vprovctx, int which, void *buffer, size_t len, unsigned strength)
{
    struct drng_provctx *provctx = vprovctx;
    const int kind = which == OSSL_PROV_RANDOM_PRIVATE ? OSSL_PROV_RANDOM_PRIVATE : OSSL_PROV_RANDOM_PUBLIC;
    struct drng_drbg *drbg = remembered(provctx, kind);

    if (drbg == NULL) {
        drbg = look_further(provctx, kind);
    }
    if (drbg == NULL) {
        drng_wipe(buffer, len);
        return 0;
    }
    if (len - 1 < DRNG_DRBG_MAX_REQUEST) {
        return drng_drbg_generate(drbg, buffer, len, strength, 0, NULL, 0);
    }
    return generate_parts(drbg, buffer, len, strength);
}
