/*
 * Random bytes: drng_open(), drng_read() and the other calls on a handle.
 *
 * A signal handler may come, the process may fork, and the machine may be copied at any instruction. A handler that
 * finds its thread in the middle of a call is served by a generator of its own, on the stack, and waits for nobody. A
 * child and a copy find another epoch (clone.h), forget the seed, and start the request over.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mixing/library/machine.h"
#include "mixing/library/source.h"
#include "mixing/machine/clone.h"
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

static int take_entropy(drng *d, size_t len)
{
    const struct drng_seed_policy policy = drng_source_policy(d->choice, DRNG_BY_CBC_MAC, &d->counters);
    enum drng_source weakest = DRNG_SOURCE_NONE;
    return drng_source_fill(&policy, drng_library_run, d->secrets->entropy, len, &weakest);
}

static void note_seeded(drng *d)
{
    d->generation = drng_fork_generation();
    drng_count(&d->seeds);
}

/* In a child that was forked meanwhile the generator may stay without a seed; serve_locked() starts over there. */
static int seed_first(drng *d)
{
    const int error = take_entropy(d, FIRST_ENTROPY);
    if (error == DRNG_SUCCESS && instantiate(&d->secrets->drbg, d->secrets->entropy) == DRNG_OK) {
        note_seeded(d);
    }
    drng_wipe(d->secrets->entropy, sizeof(d->secrets->entropy));
    return error;
}

static int seed_again(drng *d)
{
    const int error = take_entropy(d, ENTROPY);
    const struct drng_bytes entropy = {d->secrets->entropy, ENTROPY};
    if (error == DRNG_SUCCESS && drng_ctr_drbg_reseed(&d->secrets->drbg, entropy, nothing, time(NULL)) == DRNG_OK) {
        note_seeded(d);
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
static int seeded(drng *d, uint64_t epoch, bool again)
{
    static const struct drng_reseed_limits limits = {RESEED_REQUESTS, RESEED_SECONDS};
    struct drng_ctr_drbg *drbg = &d->secrets->drbg;
    if (d->epoch != epoch) {
        count_restart(d);
        drng_ctr_drbg_uninstantiate(drbg);
        d->epoch = epoch;
    }
    if (drbg->reseed_counter == 0) {
        return seed_first(d);
    }
    return again || drng_ctr_drbg_reseed_due(drbg, &limits, time(NULL)) ? seed_again(d) : DRNG_SUCCESS;
}

/* ---- One request at a time, in one epoch ---- */

struct request {
    drng *d;
    uint8_t *out; /* NULL: a new seed is asked for, and no bytes */
    size_t len;
};

/* Where nothing tells copies of a machine apart, or a child of fork(), a fresh word in each request does. */
static bool mixes(void)
{
    const struct drng_cpu *cpu = &drng_library.evidence.cpu;
    return !drng_fork_kernel_wipes || (cpu->hypervisor && (cpu->confidential || !drng_clone_is_watched()));
}

static enum drng_result generate(struct drng_ctr_drbg *drbg, uint8_t *out, size_t len)
{
    uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN];
    if (!mixes()) {
        return drng_ctr_drbg_generate(drbg, out, len, nothing, NULL);
    }
    drng_request_entropy(&drng_library.words, fresh);
    const enum drng_result status = drng_ctr_drbg_generate(drbg, out, len, nothing, fresh);
    drng_wipe(fresh, sizeof(fresh));
    return status;
}

static int try_request(const struct request *request, uint64_t epoch)
{
    const int error = seeded(request->d, epoch, request->out == NULL);
    if (error != DRNG_SUCCESS || request->out == NULL) {
        return error;
    }
    const enum drng_result status = generate(&request->d->secrets->drbg, request->out, request->len);
    return status == DRNG_OK ? DRNG_SUCCESS : DRNG_E_NO_SOURCE;
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
    uint64_t epoch = 0;
    int error = DRNG_SUCCESS;
    do {
        epoch = drng_epoch();
        error = drng_source_fill(&policy, drng_library_run_apart, apart.entropy, sizeof(apart.entropy), &weakest);
        if (error == DRNG_SUCCESS &&
            (instantiate(&apart.drbg, apart.entropy) != DRNG_OK ||
             drng_ctr_drbg_generate(&apart.drbg, request->out, request->len, nothing, NULL) != DRNG_OK)) {
            error = DRNG_E_NO_SOURCE;
        }
        drng_wipe(&apart, sizeof(apart));
    } while (!drng_epoch_is_still(epoch));
    return error;
}

static int serve_locked(const struct request *request)
{
    uint64_t epoch = 0;
    int error = DRNG_SUCCESS;
    for (;;) {
        epoch = drng_epoch();
        error = try_request(request, epoch);
        if (drng_epoch_is_still(epoch)) {
            return error;
        }
        drng_ctr_drbg_uninstantiate(&request->d->secrets->drbg);
    }
}

static int serve(const struct request *request)
{
    struct drng_lock *lock = &request->d->secrets->lock;
    if (drng_lock_is_any_mine()) {
        return request->out != NULL ? serve_apart(request) : DRNG_E_BUSY;
    }
    if (!drng_lock(lock)) {
        return DRNG_E_BUSY; /* cannot be: this thread holds none */
    }
    const int error = serve_locked(request);
    drng_unlock(lock);
    return error;
}

/* ---- The calls ---- */

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

int drng_open(drng **handle, enum drng_choice choice)
{
    if (handle == NULL) {
        return DRNG_E_ARGUMENT;
    }
    *handle = NULL;
    if (!drng_source_choice_exists(choice)) {
        return DRNG_E_ARGUMENT;
    }
    int error = drng_library_open();
    if (error != DRNG_SUCCESS) {
        return error;
    }
    drng *d = allocate(choice);
    if (d == NULL) {
        return DRNG_E_MEMORY;
    }
    error = drng_reseed(d);
    if (error != DRNG_SUCCESS) {
        drng_close(d);
        return error;
    }
    *handle = d;
    return DRNG_SUCCESS;
}

int drng_read(drng *handle, void *bytes, size_t len)
{
    uint8_t *out = bytes;
    int error = DRNG_SUCCESS;
    if (handle == NULL || len > PTRDIFF_MAX || (bytes == NULL && len > 0)) {
        return DRNG_E_ARGUMENT;
    }
    for (size_t done = 0; done < len && error == DRNG_SUCCESS; done += DRNG_DRBG_MAX_REQUEST) {
        const size_t left = len - done;
        const size_t part = left < DRNG_DRBG_MAX_REQUEST ? left : (size_t)DRNG_DRBG_MAX_REQUEST;
        const struct request request = {handle, out + done, part};
        error = serve(&request);
    }
    if (error != DRNG_SUCCESS) {
        drng_wipe(bytes, len);
    }
    return error;
}

int drng_reseed(drng *handle)
{
    const struct request request = {handle, NULL, 0};
    return handle != NULL ? serve(&request) : DRNG_E_ARGUMENT;
}

int drng_info(drng *handle, struct drng_info *info)
{
    if (handle == NULL || info == NULL) {
        return DRNG_E_ARGUMENT;
    }
    const enum drng_source source = (enum drng_source)atomic_load(&handle->counters.source);
    *info = (struct drng_info){
        .source = drng_source_name(source),
        .grade = drng_source_grade(source),
        .strength = 8 * DRNG_AES_MAX_KEY,
        .seeds = atomic_load(&handle->seeds),
        .fork_reseeds = atomic_load(&handle->counters.fork_reseeds),
        .clone_reseeds = atomic_load(&handle->counters.clone_reseeds),
    };
    drng_source_reasons(handle->choice, source, info->others, sizeof(info->others));
    return DRNG_SUCCESS;
}

void drng_close(drng *handle)
{
    if (handle != NULL) {
        drng_secmem_free(handle->secrets);
        free(handle);
    }
}
