/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds, limits and requests of one generator; the standard's steps are in ctr_drbg.c. */

#include "mixing/drbg/generator.h"

#include <pthread.h>
#include <string.h>

#include "mixing/drbg/self_test.h"
#include "mixing/machine/wipe.h"

/* In a slot. */
struct state {
    struct drng_guarded guarded;
    struct drng_ctr_drbg drbg; /* reseed_counter is 0 if there is no seed */
    unsigned parent_seedings;  /* the parent's seedings when this seed was taken */
    uint64_t word, last_word;  /* request_entropy.h: of the last request; the last of the first instruction */
    uint8_t entropy[DRNG_DRBG_MAX_SEEDLEN];
};
_Static_assert(sizeof(struct state) <= DRNG_SLOT_SIZE, "a generator's state outgrew its slot");

static const struct drng_bytes nothing = {NULL, 0};

struct drng_generator_lengths drng_generator_lengths(const struct drng_generator_config *config)
{
    const size_t seedlen = DRNG_DRBG_SEEDLEN(config->key_len);
    if (!config->use_df) {
        return (struct drng_generator_lengths){.min_entropy = seedlen, .max_entropy = seedlen, .max_input = seedlen};
    }
    return (struct drng_generator_lengths){
        .min_entropy = config->key_len,
        .max_entropy = DRNG_DRBG_MAX_INPUT,
        .min_nonce = config->key_len / 2,
        .max_nonce = DRNG_DRBG_MAX_INPUT,
        .max_input = DRNG_DRBG_MAX_INPUT,
    };
}

/* ---- Seeds ---- */

/* How often the parent was seeded. 0: it does not say. */
static unsigned seedings_of_parent(const struct drng_generator *g)
{
    if (g->parent != NULL) {
        return atomic_load_explicit(&g->parent->seedings, memory_order_relaxed);
    }
    return g->source->seedings != NULL ? g->source->seedings(g->source_arg) : 0;
}

/*
 * After DRNG_OK the caller ends by end_seeding(), and uses the entropy only if the epoch is still the guard's: while a
 * foreign parent was asked a handler may have forked, and have drawn from this slot in the child.
 */
static enum drng_result get_entropy(struct drng_generator *g, struct state *s, const struct drng_guard *guard,
                                    bool nonce, bool prediction_resistance, struct drng_entropy *entropy)
{
    const struct drng_generator_lengths lengths = drng_generator_lengths(&g->config);
    *entropy = (struct drng_entropy){
        .min_len = lengths.min_entropy,
        .max_len = lengths.max_entropy,
        .nonce_len = nonce ? lengths.min_nonce : 0,
        .strength = DRNG_DRBG_STRENGTH(g->config.key_len),
        .prediction_resistance = prediction_resistance,
        .slot = s->entropy,
    };
    int cancel = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    const enum drng_result result = g->source->get(g->source_arg, guard, entropy);
    s->parent_seedings = entropy->seedings;
    (void)pthread_setcancelstate(cancel, &cancel);
    return result;
}

/* Erases the entropy and, if it was taken, notes the seed. */
static void end_seeding(struct drng_generator *g, struct state *s, struct drng_entropy *entropy,
                        enum drng_result result)
{
    drng_wipe(s->entropy, sizeof(s->entropy));
    if (g->source->release != NULL) {
        g->source->release(g->source_arg, entropy);
    }
    if (result == DRNG_OK) {
        if (g->mixing != DRNG_MIX_NEVER) {
            drng_request_words_ask_again(g->words);
        }
        const unsigned next = atomic_load_explicit(&g->seedings, memory_order_relaxed) + 1;
        g->generation = drng_fork_generation();
        atomic_store_explicit(&g->seedings, next != 0 ? next : 1, memory_order_relaxed);
        atomic_store_explicit(&g->seeded_at, s->drbg.reseed_time, memory_order_relaxed);
        atomic_store_explicit(&g->status, DRNG_GENERATOR_READY, memory_order_relaxed);
    }
}

static void forget(struct drng_generator *g, struct state *s)
{
    s->word = s->last_word = 0;
    drng_ctr_drbg_uninstantiate(&s->drbg);
    atomic_store_explicit(&g->status, DRNG_GENERATOR_UNINSTANTIATED, memory_order_relaxed);
}

/*
 * There is none in a new epoch (drng_guard_take() has wiped it), after a failure, and before the first; after a failed
 * self-test none counts, and none is taken.
 */
static inline bool may_serve(const struct drng_generator *g)
{
    return atomic_load_explicit(&g->status, memory_order_relaxed) == DRNG_GENERATOR_READY &&
           atomic_load_explicit(&drng_failed_algorithm, memory_order_relaxed) == NULL;
}

static bool has_seed(const struct drng_generator *g, const struct state *s)
{
    return s->drbg.reseed_counter != 0 && may_serve(g);
}

static enum drng_result instantiate(struct drng_generator *g, struct state *s, const struct drng_guard *guard,
                                    bool prediction_resistance, struct drng_bytes personalization)
{
    struct drng_entropy entropy;
    const size_t key_len = g->config.key_len;
    const struct drng_aes *aes = key_len == DRNG_AES_MAX_KEY ? g->aes : drng_self_test_aes(key_len);
    if (atomic_load_explicit(&drng_failed_algorithm, memory_order_relaxed) != NULL) {
        return DRNG_SELF_TEST_FAILED;
    }
    if (atomic_load_explicit(&g->status, memory_order_relaxed) == DRNG_GENERATOR_READY) {
        drng_count(g->generation != drng_fork_generation() ? &g->counters->fork_reseeds : &g->counters->clone_reseeds);
    }
    forget(g, s);
    atomic_store_explicit(&g->status, DRNG_GENERATOR_FAILED, memory_order_relaxed);
    enum drng_result result = get_entropy(g, s, guard, true, prediction_resistance, &entropy);
    if (result == DRNG_OK) {
        result = !drng_guard_is_mine(guard)
                     ? DRNG_BUSY
                     : drng_ctr_drbg_instantiate(&s->drbg, aes, key_len, g->config.use_df, entropy.input, entropy.nonce,
                                                 personalization.data != NULL ? personalization : g->personalization,
                                                 time(NULL));
        end_seeding(g, s, &entropy, result);
    }
    return result;
}

static enum drng_result reseed(struct drng_generator *g, struct state *s, const struct drng_guard *guard,
                               bool prediction_resistance, struct drng_bytes own_entropy, struct drng_bytes additional)
{
    struct drng_entropy entropy;
    if (!g->keeps_seed) {
        atomic_store_explicit(&g->status, DRNG_GENERATOR_FAILED, memory_order_relaxed);
    }
    if (own_entropy.data != NULL) {
        const enum drng_result result = drng_ctr_drbg_reseed(&s->drbg, own_entropy, additional, time(NULL));
        if (result != DRNG_OK) {
            return result;
        }
        additional = nothing;
    }
    enum drng_result result = get_entropy(g, s, guard, false, prediction_resistance, &entropy);
    if (result == DRNG_OK) {
        result = !drng_guard_is_mine(guard) ? DRNG_BUSY
                                            : drng_ctr_drbg_reseed(&s->drbg, entropy.input, additional, time(NULL));
        end_seeding(g, s, &entropy, result);
    }
    if (result == DRNG_OK) {
        drng_count(&g->counters->reseeds);
    }
    return result;
}

/* ---- Requests ---- */

void drng_request_counts_add(struct drng_request_counts *counts, bool shared, size_t len)
{
    if (__builtin_expect(shared, 0)) {
        atomic_fetch_add_explicit(&counts->requests, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&counts->bytes, len, memory_order_relaxed);
        return;
    }
    const uint64_t requests = atomic_load_explicit(&counts->requests, memory_order_relaxed);
    const uint64_t bytes = atomic_load_explicit(&counts->bytes, memory_order_relaxed);
    atomic_store_explicit(&counts->requests, requests + 1, memory_order_relaxed);
    atomic_store_explicit(&counts->bytes, bytes + len, memory_order_relaxed);
}

/* A request of a generator whose seed serves. */
static inline __attribute__((always_inline)) enum drng_result generate_now(struct drng_generator *g, struct state *s,
                                                                           uint8_t *out, size_t len,
                                                                           struct drng_bytes additional)
{
    enum drng_result result = DRNG_OK;
    if (drng_mixes_now(g->mixing)) {
        result = drng_request_entropy(g->words, g->hardware_words, &s->last_word, g->counters, &s->word);
        if (__builtin_expect(result == DRNG_OK, 1)) {
            result = drng_ctr_drbg_generate(&s->drbg, out, len, additional, (const uint8_t *)&s->word);
        }
    } else {
        result = drng_ctr_drbg_generate(&s->drbg, out, len, additional, NULL);
    }
    if (__builtin_expect(result == DRNG_OK && g->requests != NULL, 1)) {
        drng_request_counts_add(g->requests, g->shares_requests, len);
    }
    return result;
}

/* A parent that was seeded anew gives its children new seeds, too. */
static inline bool is_due(const struct drng_generator *g, const struct state *s, size_t len, unsigned seedings)
{
    return (s->parent_seedings != 0 && seedings != s->parent_seedings) ||
           drng_ctr_drbg_reseed_due(&s->drbg, &g->config.limits, len, time(NULL));
}

/*
 * One request of at most DRNG_DRBG_MAX_REQUEST bytes, SP 800-90A Rev. 1, 9.3: for a caller, or for a child's seed. A
 * chain of parents is as deep as its user makes it.
 */
static __attribute__((noinline)) enum drng_result generate_any(struct drng_generator *g, struct state *s,
                                                               struct drng_guard guard, uint8_t *out, size_t len,
                                                               const struct drng_extras *extras)
{
    struct drng_bytes additional = extras != NULL ? extras->additional : nothing;
    const bool resists = extras != NULL && extras->prediction_resistance;
    enum drng_result result = has_seed(g, s) ? DRNG_OK : instantiate(g, s, &guard, false, nothing);
    if (result == DRNG_OK && (resists || is_due(g, s, len, seedings_of_parent(g)))) {
        result = reseed(g, s, &guard, resists, nothing, additional);
        additional = nothing;
    }
    return result == DRNG_OK ? generate_now(g, s, out, len, additional) : result;
}

/*
 * The same where nothing comes before the output, as nearly always. A parent that is no generator is asked above. The
 * guard is handed over in registers: a function that gives no address of its own away needs no canary.
 */
static inline __attribute__((always_inline)) enum drng_result generate_once(struct drng_generator *g, struct state *s,
                                                                            const struct drng_guard *guard,
                                                                            uint8_t *out, size_t len,
                                                                            const struct drng_extras *extras)
{
    const unsigned seedings = g->parent != NULL ? seedings_of_parent(g) : 0;
    const bool serves = extras == NULL && may_serve(g) && !is_due(g, s, len, seedings);
    return __builtin_expect(serves, 1) ? generate_now(g, s, out, len, nothing)
                                       : generate_any(g, s, *guard, out, len, extras);
}

/* ---- The answers of a root, and of a parent to its child ---- */

static enum drng_result seed_from_root(void *vroot, const struct drng_guard *guard, struct drng_entropy *entropy)
{
    entropy->input = (struct drng_bytes){entropy->slot, entropy->min_len + entropy->nonce_len};
    return drng_root_seed(vroot, guard, entropy->slot, entropy->input.len);
}

const struct drng_entropy_source drng_root_source = {.get = seed_from_root};

/* The address of the child's slot as additional input gives siblings different seeds. */
static enum drng_result seed_child(void *vparent, const struct drng_guard *guard, struct drng_entropy *entropy)
{
    struct drng_generator *parent = vparent;
    const struct drng_extras extras = {
        .additional = {(const uint8_t *)&entropy->slot, sizeof(entropy->slot)},
        .prediction_resistance = entropy->prediction_resistance,
    };
    enum drng_result result = DRNG_PARENT_TOO_WEAK;
    struct drng_guarded *slot = drng_guard_take(guard, &parent->place, parent->locking);
    if (slot == NULL) {
        return drng_place_denial(&parent->place);
    }
    if (DRNG_DRBG_STRENGTH(parent->config.key_len) >= entropy->strength) {
        entropy->input = (struct drng_bytes){entropy->slot, entropy->min_len + entropy->nonce_len};
        result = generate_any(parent, (struct state *)(void *)slot, *guard, entropy->slot, entropy->input.len, &extras);
        entropy->seedings = atomic_load_explicit(&parent->seedings, memory_order_relaxed);
    }
    drng_guard_give_back(&parent->place, slot, parent->locking, drng_guard_is_mine(guard));
    return result;
}

static const struct drng_entropy_source parent_source = {.get = seed_child};

/* ---- The calls: each is a piece of work for drng_guard_run() ---- */

/* Whether the generator, as it is configured now, can do what a call asks of it. */
static inline enum drng_result accepts(const struct drng_generator *g, unsigned strength, size_t input_len)
{
    if (__builtin_expect(strength > DRNG_DRBG_STRENGTH(g->config.key_len), 0)) {
        return DRNG_STRENGTH_TOO_HIGH;
    }
    return input_len > 0 && input_len > drng_generator_lengths(&g->config).max_input ? DRNG_INPUT_TOO_LONG : DRNG_OK;
}

struct generating {
    struct drng_generator *g;
    uint8_t *out;
    size_t len;
    unsigned strength;
    const struct drng_extras *extras;
};

static __attribute__((noinline)) enum drng_result serve_in_parts(struct generating c, struct state *s,
                                                                 struct drng_guard guard)
{
    const uint64_t limit = c.g->config.limits.bytes;
    const size_t most = limit != 0 && limit < DRNG_DRBG_MAX_REQUEST ? limit : DRNG_DRBG_MAX_REQUEST;
    enum drng_result result = DRNG_OK;
    for (size_t part = 0; result == DRNG_OK && c.len > 0; c.len -= part, c.out += part) {
        part = c.len < most ? c.len : most;
        result = generate_any(c.g, s, guard, c.out, part, c.extras);
    }
    return result;
}

static inline __attribute__((always_inline)) enum drng_result serve(void *vgenerating, struct drng_guarded *slot,
                                                                    const struct drng_guard *guard)
{
    const struct generating *c = vgenerating;
    struct state *s = (struct state *)(void *)slot;
    const enum drng_result result = accepts(c->g, c->strength, c->extras != NULL ? c->extras->additional.len : 0);
    if (__builtin_expect(result != DRNG_OK, 0)) {
        return result;
    }
    if (c->len > DRNG_LEAST_RESEED_BYTES && (c->g->config.limits.bytes != 0 || c->len > DRNG_DRBG_MAX_REQUEST)) {
        return serve_in_parts(*c, s, *guard);
    }
    return generate_once(c->g, s, guard, c->out, c->len, c->extras);
}

static __attribute__((noinline)) enum drng_result wait_and_serve(struct drng_generator *g, uint8_t *out, size_t len,
                                                                 unsigned strength, const struct drng_extras *extras)
{
    struct generating generating = {g, out, len, strength, extras};
    return drng_guard_run(&g->place, DRNG_WAITS, serve, &generating);
}

enum drng_result drng_generator_generate(struct drng_generator *g, uint8_t *out, size_t len, unsigned strength,
                                         const struct drng_extras *extras)
{
    struct generating generating = {g, out, len, strength, extras};
    const enum drng_locking locking = g->locking;
    const enum drng_result result = __builtin_expect(locking == DRNG_WAITS, 0)
                                        ? wait_and_serve(g, out, len, strength, extras)
                                        : drng_guard_run(&g->place, locking, serve, &generating);
    if (__builtin_expect(result != DRNG_OK, 0)) {
        drng_wipe(out, len);
    }
    return result;
}

#define CHANGED(member) (c->config.member != c->old.member ? c->config.member : g->config.member)

/* Another thread may have set meanwhile what this change leaves as it was. */
static void apply(struct drng_generator *g, struct state *s, const struct drng_change *c)
{
    const struct drng_generator_config now = {
        .key_len = CHANGED(key_len),
        .use_df = CHANGED(use_df),
        .limits = {CHANGED(limits.requests), CHANGED(limits.interval), CHANGED(limits.bytes)},
    };
    if (now.key_len != g->config.key_len || now.use_df != g->config.use_df) {
        forget(g, s);
    }
    g->config = now;
}

struct seeding {
    struct drng_generator *g;
    unsigned strength;
    bool prediction_resistance;
    struct drng_bytes entropy, input; /* input: the personalization string, or additional input */
    const struct drng_change *change; /* of an instantiation; NULL: none */
    bool begun;                       /* an attempt at instantiating has changed the status already */
};

static enum drng_result reseed_once(void *vseeding, struct drng_guarded *slot, const struct drng_guard *guard)
{
    const struct seeding *r = vseeding;
    struct state *s = (struct state *)(void *)slot;
    enum drng_result result = accepts(r->g, 0, r->input.len);
    if (result == DRNG_OK && !has_seed(r->g, s)) {
        result = instantiate(r->g, s, guard, false, nothing);
    }
    return result == DRNG_OK ? reseed(r->g, s, guard, r->prediction_resistance, r->entropy, r->input) : result;
}

enum drng_result drng_generator_reseed(struct drng_generator *g, bool prediction_resistance, struct drng_bytes entropy,
                                       struct drng_bytes additional)
{
    struct seeding seeding = {g, 0, prediction_resistance, entropy, additional, NULL, false};
    return drng_guard_run(&g->place, g->locking, reseed_once, &seeding);
}

/* An attempt that runs again finds the status that it has set itself: a fork does not wipe that. */
static enum drng_result instantiate_once(void *vseeding, struct drng_guarded *slot, const struct drng_guard *guard)
{
    struct seeding *r = vseeding;
    const int status = atomic_load_explicit(&r->g->status, memory_order_relaxed);
    if (!r->begun && status != DRNG_GENERATOR_UNINSTANTIATED) {
        return status == DRNG_GENERATOR_READY ? DRNG_INSTANTIATED : DRNG_IN_ERROR_STATE;
    }
    if (r->change != NULL) {
        apply(r->g, (struct state *)(void *)slot, r->change);
    }
    const enum drng_result result = accepts(r->g, r->strength, r->input.len);
    if (result != DRNG_OK) {
        return result;
    }
    r->begun = true;
    return instantiate(r->g, (struct state *)(void *)slot, guard, r->prediction_resistance, r->input);
}

enum drng_result drng_generator_instantiate(struct drng_generator *g, const struct drng_change *change,
                                            unsigned strength, bool prediction_resistance,
                                            struct drng_bytes personalization)
{
    struct seeding seeding = {g, strength, prediction_resistance, nothing, personalization, change, false};
    return drng_guard_run(&g->place, g->locking, instantiate_once, &seeding);
}

static enum drng_result forget_once(void *g, struct drng_guarded *slot, DRNG_UNUSED const struct drng_guard *guard)
{
    forget(g, (struct state *)(void *)slot);
    return DRNG_OK;
}

enum drng_result drng_generator_uninstantiate(struct drng_generator *g)
{
    return drng_guard_run(&g->place, g->locking, forget_once, g);
}

struct configuring {
    struct drng_generator *g;
    const struct drng_change *change;
};

static enum drng_result configure_once(void *vconfiguring, struct drng_guarded *slot,
                                       DRNG_UNUSED const struct drng_guard *guard)
{
    const struct configuring *c = vconfiguring;
    apply(c->g, (struct state *)(void *)slot, c->change);
    return DRNG_OK;
}

enum drng_result drng_generator_configure(struct drng_generator *g, const struct drng_change *change)
{
    struct configuring configuring = {g, change};
    return drng_guard_run(&g->place, g->locking, configure_once, &configuring);
}

struct reading {
    const struct drng_generator *g;
    struct drng_generator_config *config;
};

static enum drng_result read_config(void *vreading, DRNG_UNUSED struct drng_guarded *slot,
                                    DRNG_UNUSED const struct drng_guard *guard)
{
    const struct reading *r = vreading;
    *r->config = r->g->config;
    return DRNG_OK;
}

enum drng_result drng_generator_config(struct drng_generator *g, struct drng_generator_config *config)
{
    struct reading reading = {g, config};
    return drng_guard_run(&g->place, g->locking, read_config, &reading);
}

/* ---- Life ---- */

bool drng_generator_init(struct drng_generator *g)
{
    atomic_init(&g->status, DRNG_GENERATOR_UNINSTANTIATED);
    atomic_init(&g->seedings, 1);
    if (g->parent != NULL) {
        g->source = &parent_source;
        g->source_arg = g->parent;
    }
    return drng_place_make(&g->place, DRNG_SLOT_SIZE);
}

void drng_generator_cleanup(struct drng_generator *g)
{
    drng_place_free(&g->place);
}

void drng_generator_enable_locking(struct drng_generator *g)
{
    if (g->locking == DRNG_ALONE) {
        g->locking = DRNG_WAITS;
    }
}

/* DRNG_OK: nothing secret is in the slot. */
static enum drng_result look_for_secrets(DRNG_UNUSED void *vg, struct drng_guarded *slot,
                                         DRNG_UNUSED const struct drng_guard *guard)
{
    const struct state *s = (const struct state *)(const void *)slot;
    const bool wiped = drng_is_wiped(s->drbg.key, sizeof(s->drbg.key)) && drng_is_wiped(s->drbg.v, sizeof(s->drbg.v)) &&
                       drng_is_wiped(s->entropy, sizeof(s->entropy)) && (s->word | s->last_word) == 0;
    return wiped ? DRNG_OK : DRNG_INSTANTIATED;
}

bool drng_generator_is_zeroized(struct drng_generator *g)
{
    return drng_guard_run(&g->place, g->locking, look_for_secrets, g) == DRNG_OK;
}
