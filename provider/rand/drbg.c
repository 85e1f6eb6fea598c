#include "provider/rand/drbg.h"

#include <string.h>

#include <openssl/evp.h>

#include "mixing/drbg/request_entropy.h"
#include "mixing/machine/clone.h"
#include "mixing/memory/secmem.h"
#include "mixing/memory/thread.h"
#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/process.h"
#include "provider/rand/drbg_apart.h"
#include "provider/rand/drbg_params.h"
#include "provider/rand/drbg_seed.h"
#include "provider/rand/rdrand.h"
#include "provider/rand/seed_buffer.h"
#include "provider/rand/seed_src.h"
#include "provider/rand/store.h"

_Static_assert(sizeof(struct drng_drbg_secrets) <= DRNG_SLOT_SIZE, "a generator's secrets outgrew their slot");

enum {
    DEFAULT_RESEED_REQUESTS = 1 << 8,  /* libcrypto's defaults */
    DEFAULT_RESEED_INTERVAL = 60 * 60, /* seconds */
};

static const struct drng_bytes nothing = {NULL, 0};

/* If data is NULL the length is ignored, as libcrypto does. */
static struct drng_bytes input(const unsigned char *data, size_t len)
{
    return (struct drng_bytes){data, data != NULL ? len : 0};
}

/* ---- Context ---- */

static bool fill_for_child(void *vdrbg, const void *child, unsigned char *out, size_t len, bool prediction_resistance);

/* Recognizes the parent by its table of functions: the name is not enough, since other providers use the same names. */
static void place_in_chain(struct drng_drbg *d, const OSSL_DISPATCH *functions)
{
    bool own_chain = d->parent.ctx == NULL || functions == drng_seed_src_functions;
    if (d->parent.ctx != NULL && functions == drng_drbg_functions) {
        d->own_parent = d->parent.ctx;
        d->parent.fill = fill_for_child;
        own_chain = d->own_parent->own_chain;
    } else if (functions == drng_seed_src_functions) {
        d->parent.fill = drng_seed_src_fill;
    } else if (functions == drng_rdrand_functions) {
        d->parent.fill = drng_rdrand_fill;
    } else {
        d->root_joins = d->parent.ctx != NULL && drng_parent_is_openssls_seed_source(&d->parent);
    }
    d->own_chain = own_chain || d->root_joins;
    d->mixing = d->own_chain ? d->provctx->mixing : DRNG_MIX_NEVER;
}

/*
 * Under a foreign parent, which may be a test's, the generator gives the standard's answers. Where every request takes
 * in a fresh word, none can be made in advance. If there is no memory, every request is a Generate request.
 */
static uint8_t *new_store(const struct drng_drbg *d)
{
    const bool wanted = d->provctx->config.batch && d->own_chain && d->mixing != DRNG_MIX_ALWAYS;
    return wanted ? drng_secmem_alloc_wide() : NULL;
}

void *drng_drbg_newctx(void *vprovctx, void *parent, const OSSL_DISPATCH *parent_functions)
{
    struct drng_provctx *provctx = vprovctx;
    struct drng_drbg *d = drng_zalloc(&provctx->core, sizeof(*d));
    struct drng_drbg_secrets *secrets = drng_secmem_alloc();
    if (d == NULL || secrets == NULL) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        drng_secmem_free(secrets);
        drng_free(&provctx->core, d);
        return NULL;
    }
    d->provctx = provctx;
    d->secrets = secrets;
    drng_parent_init(&d->parent, parent, parent_functions);
    place_in_chain(d, parent_functions);
    d->store = new_store(d);
    d->state = EVP_RAND_STATE_UNINITIALISED;
    d->key_len = DRNG_AES_MAX_KEY;
    d->use_df = true;
    d->limits = (struct drng_reseed_limits){DEFAULT_RESEED_REQUESTS, DEFAULT_RESEED_INTERVAL};
    atomic_init(&d->seedings, 1);
    d->counts = drng_request_counts_acquire();
    return d;
}

void drng_drbg_freectx(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    if (d != NULL) {
        drng_request_counts_release(d->counts);
        drng_secmem_free_wide(d->store);
        drng_secmem_free(d->secrets);
        drng_free(&d->provctx->core, d);
    }
}

/* ---- Locking ---- */

int drng_drbg_enable_locking(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    if (d->parent.enable_locking != NULL && d->parent.enable_locking(d->parent.ctx) != 1) {
        drng_raise(&d->provctx->core, DRNG_R_PARENT_LOCK, NULL);
        return 0;
    }
    d->locking = true;
    return 1;
}

static int lock(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    return d == NULL || !d->locking || drng_lock_or_share(&d->secrets->lock);
}

static void unlock(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    if (d != NULL && d->locking) {
        drng_unlock(&d->secrets->lock);
    }
}

/* ---- One request at a time, in one epoch ---- */

/* A signal handler has interrupted its thread's wait for the lock: another thread may be in the middle of a request. */
static bool is_anothers(const struct drng_drbg *d)
{
    return d->locking && drng_lock_is_waited_for(&d->secrets->lock);
}

/* Inline, as leave() is: each request passes both. False: a signal handler has interrupted a request of this generator,
 * and asks it for another. */
static inline bool enter(struct drng_drbg *d, uint64_t *epoch)
{
    const uint64_t self = drng_this_thread();
    *epoch = drng_epoch();
    if (__builtin_expect(atomic_load_explicit(&d->under_way, memory_order_relaxed) == self, 0) || is_anothers(d)) {
        return false;
    }
    atomic_store_explicit(&d->under_way, self, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

/*
 * False: the process forked since enter(), and this is the child; or the machine was copied, and this is a copy. The
 * caller starts over: the result was made of the original's state, or of state that the kernel had wiped. Until that is
 * forgotten, a signal handler is still served apart.
 */
static inline bool leave(struct drng_drbg *d, uint64_t epoch)
{
    const bool still = drng_epoch_is_still(epoch);
    if (__builtin_expect(!still, 0)) {
        drng_drbg_forget(d);
    }
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&d->under_way, 0, memory_order_relaxed);
    return still;
}

static int refuse_in_between(const struct drng_drbg *d)
{
    drng_raise(&d->provctx->core, DRNG_R_BUSY, "a signal handler may draw from it, and nothing else");
    return 0;
}

/* ---- Instantiate and uninstantiate ---- */

static bool healthy(const struct drng_drbg *d)
{
    if (!drng_process_healthy()) {
        drng_raise(&d->provctx->core, DRNG_R_SELF_TEST_FAILED, NULL);
        return false;
    }
    return true;
}

static bool strong_enough(const struct drng_drbg *d, unsigned strength)
{
    if (strength > drng_drbg_strength(d)) {
        drng_raise(&d->provctx->core, DRNG_R_STRENGTH_TOO_HIGH, "%u bits where this generator has %u", strength,
                   drng_drbg_strength(d));
        return false;
    }
    return true;
}

static bool is_uninstantiated(const struct drng_drbg *d)
{
    if (d->state != EVP_RAND_STATE_UNINITIALISED) {
        drng_raise(&d->provctx->core,
                   d->state == EVP_RAND_STATE_ERROR ? DRNG_R_ERROR_STATE : DRNG_R_ALREADY_INSTANTIATED,
                   "uninstantiate it first");
        return false;
    }
    return true;
}

int drng_drbg_instantiate(void *vdrbg, unsigned strength, int prediction_resistance,
                          const unsigned char *personalization, size_t personalization_len, const OSSL_PARAM params[])
{
    struct drng_drbg *d = vdrbg;
    uint64_t epoch = 0;
    bool done = false;

    if (!healthy(d)) {
        return 0;
    }
    do {
        if (!enter(d, &epoch)) {
            return refuse_in_between(d);
        }
        done = drng_drbg_set_ctx_params(d, params) && strong_enough(d, strength) && is_uninstantiated(d) &&
               drng_drbg_seed_first(d, prediction_resistance != 0, input(personalization, personalization_len));
    } while (!leave(d, epoch));
    return done;
}

static int uninstantiate(void *vdrbg)
{
    struct drng_drbg *d = vdrbg;
    uint64_t epoch = 0;
    if (!enter(d, &epoch)) {
        return refuse_in_between(d);
    }
    drng_drbg_forget(d);
    (void)leave(d, epoch);
    return 1;
}

/* Another cipher takes the seed from a request that is under way. */
static int set_ctx_params(void *vdrbg, const OSSL_PARAM params[])
{
    struct drng_drbg *d = vdrbg;
    uint64_t epoch = 0;
    int done = 0;
    do {
        if (!enter(d, &epoch)) {
            return refuse_in_between(d);
        }
        done = drng_drbg_set_ctx_params(d, params);
    } while (!leave(d, epoch));
    return done;
}

static int verify_zeroization(void *vdrbg)
{
    const struct drng_drbg *d = vdrbg;
    const struct drng_ctr_drbg *drbg = &d->secrets->drbg;
    return drng_is_wiped(drbg->key, sizeof(drbg->key)) && drng_is_wiped(drbg->v, sizeof(drbg->v)) &&
           (d->store == NULL || drng_is_wiped(d->store, DRNG_STORE_SIZE));
}

/* ---- Seeds that are due ---- */

static bool has_seed(const struct drng_drbg *d, uint64_t epoch)
{
    return d->state == EVP_RAND_STATE_READY && d->epoch == epoch;
}

/* Why a generator has to start over that has a seed: this is another process, or another machine. */
static void count_restart(const struct drng_drbg *d)
{
    struct drng_counters *counters = &drng_stats.live->counters;
    if (d->state == EVP_RAND_STATE_READY) {
        drng_count(d->generation != drng_fork_generation() ? &counters->fork_reseeds : &counters->clone_reseeds);
    }
}

static bool parent_has_reseeded(const struct drng_drbg *d)
{
    if (d->own_parent != NULL) {
        return drng_drbg_seedings(d->own_parent) != d->parent_seedings;
    }
    return d->parent_counts && drng_parent_reseed_counter(&d->parent) != d->parent_seedings;
}

static bool reseed_due(const struct drng_drbg *d)
{
    return drng_ctr_drbg_reseed_due(&d->secrets->drbg, &d->limits, time(NULL)) || parent_has_reseeded(d);
}

/* The limit of requests counts Generate requests, and handing out is none. All else that demands a reseed holds. */
static bool reseed_due_before_handing_out(const struct drng_drbg *d)
{
    const struct drng_reseed_limits limits = {.requests = 0, .interval = d->limits.interval};
    return drng_ctr_drbg_reseed_due(&d->secrets->drbg, &limits, time(NULL)) || parent_has_reseeded(d);
}

/* Instantiates a generator whose seed is of another epoch, that had a failure, or was never instantiated. */
static bool restart(struct drng_drbg *d)
{
    count_restart(d);
    drng_drbg_forget(d);
    return drng_drbg_seed_first(d, false, nothing);
}

static bool input_allowed(const struct drng_drbg *d, size_t additional_len)
{
    const struct drng_drbg_lengths lengths = drng_drbg_lengths_of(d);
    if (additional_len > lengths.max_input) {
        drng_raise(&d->provctx->core, DRNG_R_INPUT_TOO_LONG, "at most %zu bytes", lengths.max_input);
        return false;
    }
    return true;
}

/* ---- Reseed ---- */

static int reseed(void *vdrbg, int prediction_resistance, const unsigned char *entropy, size_t entropy_len,
                  const unsigned char *additional_data, size_t additional_len)
{
    struct drng_drbg *d = vdrbg;
    const struct drng_bytes additional = input(additional_data, additional_len);
    uint64_t epoch = 0;
    bool done = false;

    if (!healthy(d)) {
        return 0;
    }
    do {
        if (!enter(d, &epoch)) {
            return refuse_in_between(d);
        }
        done = (has_seed(d, epoch) || restart(d)) && input_allowed(d, additional.len) &&
               drng_drbg_seed_again(d, prediction_resistance != 0, input(entropy, entropy_len), additional);
    } while (!leave(d, epoch));
    return done;
}

/* ---- Generate ---- */

static bool request_allowed(const struct drng_drbg *d, size_t out_len, unsigned strength, size_t additional_len)
{
    if (!healthy(d) || !strong_enough(d, strength)) {
        return false;
    }
    if (out_len > DRNG_DRBG_MAX_REQUEST) {
        drng_raise(&d->provctx->core, DRNG_R_REQUEST_TOO_LONG, "at most %d bytes", DRNG_DRBG_MAX_REQUEST);
        return false;
    }
    return additional_len == 0 || input_allowed(d, additional_len);
}

/*
 * Makes sure that a valid seed serves this request. If this takes a reseed, the additional input goes into the reseed,
 * and *additional is empty afterwards.
 */
static bool seeded(struct drng_drbg *d, uint64_t epoch, bool prediction_resistance, struct drng_bytes *additional)
{
    if (!has_seed(d, epoch) && !restart(d)) {
        return false;
    }
    if (prediction_resistance || reseed_due(d)) {
        if (!drng_drbg_seed_again(d, prediction_resistance, nothing, *additional)) {
            return false;
        }
        *additional = nothing;
    }
    return true;
}

/* What was stored was made without the additional input, on which all later output is to depend: it goes. */
static enum drng_result generate(struct drng_drbg *d, uint8_t *out, size_t out_len, struct drng_bytes additional)
{
    uint8_t fresh[DRNG_REQUEST_ENTROPY_LEN];
    if (additional.len > 0) {
        drng_store_erase(d);
    }
    if (!drng_mixes_now(d->mixing)) {
        return drng_ctr_drbg_generate(&d->secrets->drbg, out, out_len, additional, NULL);
    }
    drng_request_entropy(&d->provctx->words, fresh);
    const enum drng_result status = drng_ctr_drbg_generate(&d->secrets->drbg, out, out_len, additional, fresh);
    drng_wipe(fresh, sizeof(fresh));
    return status;
}

/* One attempt at a request, between enter() and leave(). DRNG_RESEED_NEEDED: no seed could be had. */
static enum drng_result try_generate(struct drng_drbg *d, uint64_t epoch, uint8_t *out, size_t out_len,
                                     bool prediction_resistance, struct drng_bytes additional)
{
    if (!seeded(d, epoch, prediction_resistance, &additional)) {
        drng_wipe(out, out_len);
        return DRNG_RESEED_NEEDED;
    }
    return generate(d, out, out_len, additional);
}

/* The same for a short request that finds too little in the store. */
static enum drng_result try_refill(struct drng_drbg *d, uint64_t epoch, uint8_t *out, size_t out_len)
{
    struct drng_bytes additional = nothing;
    enum drng_result status = DRNG_RESEED_NEEDED;
    if (seeded(d, epoch, false, &additional)) {
        status = drng_store_fill(d);
    }
    if (status != DRNG_OK || !drng_store_hand_out(d, out, out_len)) {
        drng_wipe(out, out_len);
    }
    return status;
}

/* refills: the store is to serve this request, and those that follow; not while requests are mixed. */
static inline int serve(struct drng_drbg *d, uint8_t *out, size_t out_len, unsigned strength,
                        bool prediction_resistance, struct drng_bytes additional, bool refills)
{
    enum drng_result status = DRNG_OK;
    uint64_t epoch = 0;

    if (!request_allowed(d, out_len, strength, additional.len)) {
        drng_wipe(out, out_len);
        return 0;
    }
    do {
        if (!enter(d, &epoch)) {
            return drng_drbg_generate_apart(d, out, out_len, additional);
        }
        status = refills && !drng_mixes_now(d->mixing)
                     ? try_refill(d, epoch, out, out_len)
                     : try_generate(d, epoch, out, out_len, prediction_resistance, additional);
    } while (!leave(d, epoch));
    if (status != DRNG_OK) {
        drng_raise(&d->provctx->core, DRNG_R_RESEED_FAILED, NULL);
        return 0;
    }
    drng_request_counts_add(d->counts, out_len);
    return 1;
}

/*
 * Serves a short request with what is stored. False: there is too little, or it may not go out any more, or this
 * process has become another meanwhile; refill() then starts from the beginning.
 */
static inline bool hand_out(struct drng_drbg *d, uint8_t *out, size_t out_len, unsigned strength)
{
    uint64_t epoch = 0;
    if (!drng_process_healthy() || strength > drng_drbg_strength(d) || !enter(d, &epoch)) {
        return false;
    }
    const bool valid = has_seed(d, epoch) && !drng_mixes_now(d->mixing) && !reseed_due_before_handing_out(d);
    const bool served = __builtin_expect(valid, 1) && drng_store_hand_out(d, out, out_len);
    return leave(d, epoch) && served;
}

static __attribute__((noinline)) int refill(struct drng_drbg *d, uint8_t *out, size_t out_len, unsigned strength)
{
    return serve(d, out, out_len, strength, false, nothing, true);
}

/* Not inline: a request without a store is not to pay for the registers that this one needs. */
static __attribute__((noinline)) int serve_short(struct drng_drbg *d, uint8_t *out, size_t out_len, unsigned strength)
{
    if (!hand_out(d, out, out_len, strength)) {
        return refill(d, out, out_len, strength);
    }
    drng_request_counts_add(d->counts, out_len);
    return 1;
}

int drng_drbg_generate(void *vdrbg, unsigned char *out, size_t out_len, unsigned strength, int prediction_resistance,
                       const unsigned char *additional_data, size_t additional_len)
{
    struct drng_drbg *d = vdrbg;
    const struct drng_bytes additional = input(additional_data, additional_len);
    if (d->store != NULL && out_len <= DRNG_STORE_LONGEST && prediction_resistance == 0 && additional.len == 0) {
        return serve_short(d, out, out_len, strength);
    }
    return serve(d, out, out_len, strength, prediction_resistance != 0, additional, false);
}

/* ---- As a parent ---- */

/* The child's address as additional input gives siblings different seeds. */
static bool fill_for_child(void *vdrbg, const void *child, unsigned char *out, size_t len, bool prediction_resistance)
{
    struct drng_drbg *d = vdrbg;
    return drng_drbg_generate(d, out, len, drng_drbg_strength(d), prediction_resistance, (const unsigned char *)&child,
                              sizeof(child)) == 1;
}

static size_t get_seed(void *vdrbg, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                       int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    struct drng_drbg *d = vdrbg;
    size_t len = 0;
    unsigned char *buffer = drng_seed_buffer_for(&d->provctx->core, entropy, min_len, max_len, &len);
    if (buffer == NULL) {
        return 0;
    }
    /* A seed is the output of a Generate request of its own (SP 800-90C), never a piece of the store. */
    if (!serve(d, buffer, len, drng_drbg_strength(d), prediction_resistance != 0, input(additional, additional_len),
               false)) {
        drng_seed_buffer_free(&d->provctx->core, buffer, len);
        return 0;
    }
    *seed = buffer;
    return len;
}

static void clear_seed(void *vdrbg, unsigned char *seed, size_t len)
{
    const struct drng_drbg *d = vdrbg;
    drng_seed_buffer_free(&d->provctx->core, seed, len);
}

const OSSL_DISPATCH drng_drbg_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))drng_drbg_newctx},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))drng_drbg_freectx},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))drng_drbg_instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))drng_drbg_generate},
    {OSSL_FUNC_RAND_RESEED, (void (*)(void))reseed},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))drng_drbg_enable_locking},
    {OSSL_FUNC_RAND_LOCK, (void (*)(void))lock},
    {OSSL_FUNC_RAND_UNLOCK, (void (*)(void))unlock},
    {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))drng_drbg_gettable_ctx_params},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))drng_drbg_get_ctx_params},
    {OSSL_FUNC_RAND_SETTABLE_CTX_PARAMS, (void (*)(void))drng_drbg_settable_ctx_params},
    {OSSL_FUNC_RAND_SET_CTX_PARAMS, (void (*)(void))set_ctx_params},
    {OSSL_FUNC_RAND_VERIFY_ZEROIZATION, (void (*)(void))verify_zeroization},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))clear_seed},
    {0, NULL},
};
