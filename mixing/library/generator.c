/*
 * Random bytes: drng_open(), drng_read() and the other calls on a handle.
 *
 * A signal handler may come, the process may fork, and the machine may be copied at any instruction. A handler that
 * finds its thread in the middle of a call is served by a generator of its own, on the stack, and waits for nobody. A
 * child and a copy find another epoch (clone.h), forget the seed, and start the call over at its first byte.
 *
 * Where a handler forks and its child returns into the call, that call holds no lock until it starts over. It has the
 * generator for itself nevertheless: handlers are served apart, and the child has no other thread, since a handler must
 * not start one.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mixing/library/machine.h"
#include "mixing/library/source.h"
#include "mixing/machine/clone.h"
#include "mixing/memory/cancel.h"
#include "mixing/memory/wipe.h"

enum {
    /* SP 800-90A Rev. 1, 8.6.7: entropy input of security strength and half as much for the nonce */
    FIRST_ENTROPY = 48,
    ENTROPY = 32,
    RESEED_REQUESTS = 1 << 16,
    RESEED_SECONDS = 7 * 60,
};

/* In a slot: what is secret, or must not survive a fork. */
struct secrets {
    struct drng_lock lock;
    struct drng_ctr_drbg drbg;
    uint8_t entropy[FIRST_ENTROPY];
};
_Static_assert(sizeof(struct secrets) <= DRNG_SLOT_SIZE, "a generator's secrets outgrew their slot");

struct drng {
    struct secrets *secrets;
    enum drng_choice choice;
    struct drng_counters counters; /* of this handle's seeds; their instructions count elsewhere */
    atomic_uint_least64_t seeds;
    atomic_uint source;  /* enum drng_source: of the seed that serves; counters.source is that of the last attempt */
    uint64_t epoch;      /* in which it was last used (clone.h) */
    uint64_t generation; /* in which it was seeded (fork.h) */
};

static const struct drng_bytes nothing = {NULL, 0};
static const uint8_t personalization[] = "libdrng";

/* ---- Seeds ---- */

static enum drng_result instantiate(struct drng_ctr_drbg *drbg, const uint8_t entropy[FIRST_ENTROPY])
{
    return drng_ctr_drbg_instantiate(drbg, drng_library.aes, DRNG_AES_MAX_KEY, true,
                                     (struct drng_bytes){entropy, FIRST_ENTROPY}, nothing,
                                     (struct drng_bytes){personalization, sizeof(personalization)}, time(NULL));
}

static int take_entropy(drng *d, drng_source_runner *run, size_t len, enum drng_source *source)
{
    const struct drng_seed_policy policy = drng_source_policy(d->choice, DRNG_BY_CBC_MAC, &d->counters);
    return drng_source_fill(&policy, run, d->secrets->entropy, len, source);
}

static void note_seeded(drng *d, enum drng_source source)
{
    d->generation = drng_fork_generation();
    atomic_store(&d->source, (unsigned)source);
    drng_count(&d->seeds);
}

/* In a child that was forked meanwhile the generator may stay without a seed; the next request starts over there. */
static int seed_first(drng *d, drng_source_runner *run)
{
    enum drng_source source = DRNG_SOURCE_NONE;
    const int error = take_entropy(d, run, FIRST_ENTROPY, &source);
    if (error == DRNG_SUCCESS && instantiate(&d->secrets->drbg, d->secrets->entropy) == DRNG_OK) {
        note_seeded(d, source);
    }
    drng_wipe(d->secrets->entropy, sizeof(d->secrets->entropy));
    return error;
}

static int seed_again(drng *d, drng_source_runner *run)
{
    enum drng_source source = DRNG_SOURCE_NONE;
    const int error = take_entropy(d, run, ENTROPY, &source);
    const struct drng_bytes entropy = {d->secrets->entropy, ENTROPY};
    if (error == DRNG_SUCCESS && drng_ctr_drbg_reseed(&d->secrets->drbg, entropy, nothing, time(NULL)) == DRNG_OK) {
        note_seeded(d, source);
    }
    drng_wipe(d->secrets->entropy, sizeof(d->secrets->entropy));
    return error;
}

static void count_restart(drng *d)
{
    if (atomic_load(&d->seeds) > 0) {
        drng_count(d->generation != drng_fork_generation() ? &d->counters.fork_reseeds : &d->counters.clone_reseeds);
    }
}

/* Makes sure that a seed of this epoch serves; `again`: a new one, in any case. */
static int seeded(drng *d, drng_source_runner *run, uint64_t epoch, bool again)
{
    static const struct drng_reseed_limits limits = {RESEED_REQUESTS, RESEED_SECONDS};
    struct drng_ctr_drbg *drbg = &d->secrets->drbg;
    if (d->epoch != epoch) {
        count_restart(d);
        drng_ctr_drbg_uninstantiate(drbg);
        d->epoch = epoch;
    }
    if (drbg->reseed_counter == 0) {
        return seed_first(d, run);
    }
    return again || drng_ctr_drbg_reseed_due(drbg, &limits, time(NULL)) ? seed_again(d, run) : DRNG_SUCCESS;
}

/* ---- One request at a time, in one epoch ---- */

struct request {
    drng *d;
    uint8_t *out; /* NULL: a new seed is asked for, and no bytes */
    size_t len;
    drng_source_runner *run; /* on the reader of seeds */
};

/* Where nothing tells copies of a machine apart, or a child of fork(), a fresh word in each request does. */
static bool mixes(void)
{
    const struct drng_cpu *cpu = &drng_library.evidence.cpu;
    return !drng_fork_kernel_wipes || (cpu->hypervisor && (cpu->confidential || !drng_clone_is_watched()));
}

static int error_of(enum drng_result status)
{
    return status == DRNG_OK ? DRNG_SUCCESS : DRNG_E_NO_SOURCE;
}

/* Where the hardware alone was chosen the kernel is not asked, and a request without a word might be a copy's, too. */
static int take_fresh(enum drng_choice choice, uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN])
{
    const struct drng_request_words *words = &drng_library.words;
    if (choice == DRNG_ANY) {
        drng_request_entropy(words, fresh);
        return DRNG_SUCCESS;
    }
    if (drng_request_entropy_by_hardware(words, fresh)) {
        return DRNG_SUCCESS;
    }
    return drng_request_words_usable(words) ? DRNG_E_NOT_READY : DRNG_E_UNHEALTHY;
}

static int generate(const struct request *request)
{
    struct drng_ctr_drbg *drbg = &request->d->secrets->drbg;
    uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN];
    if (!mixes()) {
        return error_of(drng_ctr_drbg_generate(drbg, request->out, request->len, nothing, NULL));
    }
    int error = take_fresh(request->d->choice, fresh);
    if (error == DRNG_SUCCESS) {
        error = error_of(drng_ctr_drbg_generate(drbg, request->out, request->len, nothing, fresh));
        drng_wipe(fresh, sizeof(fresh));
    }
    return error;
}

static int try_request(const struct request *request, uint64_t epoch)
{
    const int error = seeded(request->d, request->run, epoch, request->out == NULL);
    return error != DRNG_SUCCESS || request->out == NULL ? error : generate(request);
}

/* What lies on the stack here is not shared, so the interrupted request is not disturbed. */
static int serve_apart(const struct request *request)
{
    struct {
        struct drng_ctr_drbg drbg;
        uint8_t entropy[FIRST_ENTROPY];
    } apart;
    struct drng_counters counters = {0};
    enum drng_source weakest = DRNG_SOURCE_NONE;
    const struct drng_seed_policy policy = drng_source_policy(request->d->choice, DRNG_BY_CBC_MAC, &counters);
    int error = drng_source_fill(&policy, drng_library_run_apart, apart.entropy, sizeof(apart.entropy), &weakest);
    if (error == DRNG_SUCCESS &&
        (instantiate(&apart.drbg, apart.entropy) != DRNG_OK ||
         drng_ctr_drbg_generate(&apart.drbg, request->out, request->len, nothing, NULL) != DRNG_OK)) {
        error = DRNG_E_NO_SOURCE;
    }
    drng_wipe(&apart, sizeof(apart));
    return error;
}

/* In an epoch that has ended meanwhile this may have gone wrong. The next request then forgets the seed: seeded(). */
static int serve_locked(const struct request *request)
{
    struct drng_lock *lock = &request->d->secrets->lock;
    if (!drng_lock(lock)) {
        return DRNG_E_BUSY; /* cannot be: a handler that interrupted the holder is served apart */
    }
    const int error = try_request(request, drng_epoch());
    drng_unlock(lock);
    return error;
}

/* ---- The calls ---- */

/* All parts, or those before the epoch changes. */
static int read_parts(drng *d, uint8_t *out, size_t len, bool apart, uint64_t epoch)
{
    int error = DRNG_SUCCESS;
    for (size_t done = 0; done < len && error == DRNG_SUCCESS && drng_epoch_is_still(epoch);
         done += DRNG_DRBG_MAX_REQUEST) {
        const size_t left = len - done;
        const size_t part = left < DRNG_DRBG_MAX_REQUEST ? left : (size_t)DRNG_DRBG_MAX_REQUEST;
        const struct request request = {d, out + done, part, drng_library_run};
        error = apart ? serve_apart(&request) : serve_locked(&request);
    }
    return error;
}

/*
 * A child that was forked meanwhile has its parent's first parts, or a generator that was wiped, so it starts over, and
 * takes the lock again; so does a copy.
 */
static int read_whole(drng *d, uint8_t *out, size_t len, bool apart)
{
    uint64_t epoch = 0;
    int error = DRNG_SUCCESS;
    do {
        epoch = drng_epoch();
        error = read_parts(d, out, len, apart, epoch);
    } while (!drng_epoch_is_still(epoch));
    return error;
}

static drng *allocate(enum drng_choice choice)
{
    drng *d = calloc(1, sizeof(*d));
    struct secrets *secrets = drng_secmem_alloc();
    if (d == NULL || secrets == NULL) {
        drng_secmem_free(secrets);
        free(d);
        return NULL;
    }
    d->secrets = secrets;
    d->choice = choice;
    return d;
}

static void free_handle(drng *d)
{
    drng_secmem_free(d->secrets);
    free(d);
}

/* Apart, after a siglongjmp() out of another call, the new handle has its lock for itself, but not the reader. */
static int open_handle(drng **handle, enum drng_choice choice, bool apart)
{
    int error = drng_library_open_again();
    if (error != DRNG_SUCCESS) {
        return error;
    }
    drng *d = allocate(choice);
    if (d == NULL) {
        return DRNG_E_MEMORY;
    }
    const struct request request = {d, NULL, 0, apart ? drng_library_run_apart : drng_library_run};
    error = serve_locked(&request);
    if (error != DRNG_SUCCESS) {
        free_handle(d);
        return error;
    }
    *handle = d;
    return DRNG_SUCCESS;
}

int drng_open(drng **handle, enum drng_choice choice)
{
    if (handle == NULL) {
        return DRNG_E_ARGUMENT;
    }
    *handle = NULL;
    if (!drng_source_choice_exists(choice)) {
        return DRNG_E_ARGUMENT;
    }
    const struct drng_cancel cancel = drng_cancel_disable();
    const bool apart = !drng_library_enter();
    const int error = open_handle(handle, choice, apart);
    drng_library_leave();
    drng_cancel_restore(cancel);
    return error;
}

int drng_read(drng *handle, void *bytes, size_t len)
{
    if (handle == NULL || len > PTRDIFF_MAX || (bytes == NULL && len > 0)) {
        return DRNG_E_ARGUMENT;
    }
    const bool apart = !drng_library_enter();
    const int error = read_whole(handle, bytes, len, apart);
    drng_library_leave();
    if (error != DRNG_SUCCESS) {
        drng_wipe(bytes, len);
    }
    return error;
}

int drng_reseed(drng *handle)
{
    const struct request request = {handle, NULL, 0, drng_library_run};
    if (handle == NULL) {
        return DRNG_E_ARGUMENT;
    }
    const bool apart = !drng_library_enter();
    const int error = apart ? DRNG_E_BUSY : serve_locked(&request);
    drng_library_leave();
    return error;
}

int drng_info(drng *handle, struct drng_info *info)
{
    if (handle == NULL || info == NULL) {
        return DRNG_E_ARGUMENT;
    }
    const enum drng_source source = (enum drng_source)atomic_load(&handle->source);
    const enum drng_source last = (enum drng_source)atomic_load(&handle->counters.source);
    *info = (struct drng_info){
        .source = drng_source_name(source),
        .grade = drng_source_grade(source),
        .strength = 8 * DRNG_AES_MAX_KEY,
        .seeds = atomic_load(&handle->seeds),
        .fork_reseeds = atomic_load(&handle->counters.fork_reseeds),
        .clone_reseeds = atomic_load(&handle->counters.clone_reseeds),
    };
    drng_source_reasons(handle->choice, last, info->others, sizeof(info->others));
    return DRNG_SUCCESS;
}

void drng_close(drng *handle)
{
    if (handle != NULL) {
        const struct drng_cancel cancel = drng_cancel_disable();
        (void)drng_library_enter();
        free_handle(handle);
        drng_library_leave();
        drng_cancel_restore(cancel);
    }
}
