/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds and random bytes: drng_conditioned_seed(), drng_bytes(), and the calls on a handle, which is a generator. */

#include "library/drng.h"

#include <stdlib.h>
#include <string.h>

#include "library/open.h"
#include "mixing/drbg/generator.h"
#include "mixing/machine/os.h"

enum { RESEED_REQUESTS = 1 << 16, RESEED_SECONDS = 7 * 60 };

struct drng {
    struct drng_generator generator;
    enum drng_choice choice;
    struct drng_seed_policy policy;
    struct drng_root root;
    struct drng_counters counters; /* of this handle's seeds; their instructions count elsewhere */
};

static const struct drng_bytes nothing = {NULL, 0};
static const uint8_t personalization[] = "libdrng";

/* ---- Which sources a choice allows ---- */

static bool choice_exists(enum drng_choice choice)
{
    return choice == DRNG_ANY || choice == DRNG_HARDWARE_ONLY || choice == DRNG_SEED_GRADE_ONLY;
}

static bool chosen(enum drng_choice choice, unsigned instruction)
{
    return choice != DRNG_SEED_GRADE_ONLY || drng_instruction_rows[instruction].seed_grade;
}

/* The kernel's generator, which never waits here: early in boot it has no bytes yet. */
static bool from_kernel(void *arg, uint8_t *out, size_t len)
{
    (void)arg;
    return drng_os_random(out, len);
}

/* It counts in *counters, which must live as long as the policy. */
static struct drng_seed_policy policy_of(enum drng_choice choice, enum drng_conditioning conditioning,
                                         struct drng_counters *counters)
{
    struct drng_seed_policy policy = {
        .aes = drng_library.machine.aes,
        .conditioner = conditioning == DRNG_BY_HMAC_SHA256 ? DRNG_HMAC_SHA256 : DRNG_CBC_MAC,
        .os_mixing = choice == DRNG_ANY,
        .fallback = choice == DRNG_ANY ? from_kernel : NULL,
        .counters = counters,
    };
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        const bool allowed = drng_library.eligibility.seeds[i] == DRNG_ALLOWED && chosen(choice, i);
        policy.instructions[i] = allowed ? &drng_library.machine.instructions[i] : NULL;
    }
    return policy;
}

/* The error that tells of a result, where seeds were asked for under this choice. */
static int error_of(enum drng_choice choice, enum drng_result result)
{
    static const enum drng_error errors[] = {
        [DRNG_EXHAUSTED] = DRNG_E_NOT_READY,        [DRNG_UNAVAILABLE] = DRNG_E_UNHEALTHY,
        [DRNG_FALLBACK_FAILED] = DRNG_E_NO_SOURCE,  [DRNG_BUSY] = DRNG_E_BUSY,
        [DRNG_SELF_TEST_FAILED] = DRNG_E_SELF_TEST, [DRNG_OTHER_PROCESS] = DRNG_E_ARGUMENT,
    };
    bool allowed = false;
    bool healthy = false;
    if (result == DRNG_OK || errors[result] != DRNG_SUCCESS) {
        return (int)errors[result];
    }
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        if (drng_library.eligibility.seeds[i] == DRNG_ALLOWED && chosen(choice, i)) {
            allowed = true;
            healthy = healthy || !atomic_load(&drng_library.machine.instructions[i].disabled);
        }
    }
    return !allowed ? DRNG_E_UNSUPPORTED : !healthy ? DRNG_E_UNHEALTHY : DRNG_E_NOT_READY;
}

/* ---- What serves, and why the others do not ---- */

/* Its name for a person. */
static const char *name_of(enum drng_source source)
{
    return source == DRNG_SOURCE_NONE       ? "none"
           : source == DRNG_SOURCE_FALLBACK ? "getrandom"
                                            : drng_instruction_rows[source - DRNG_SOURCE_INSTRUCTION].name;
}

static enum drng_grade grade_of(enum drng_source source)
{
    return source == DRNG_SOURCE_NONE                                           ? DRNG_GRADE_NONE
           : source == DRNG_SOURCE_FALLBACK                                     ? DRNG_GRADE_KERNEL
           : drng_instruction_rows[source - DRNG_SOURCE_INSTRUCTION].seed_grade ? DRNG_GRADE_SEED
                                                                                : DRNG_GRADE_GENERATOR;
}

/*
 * Why the sources better than `last` do not serve: "RDSEED: not in this CPU; RDRAND: ...", cut where there is no room.
 * A better one that may be used, and has not served, was dry. A handler may ask: no snprintf().
 */
static void write_reasons(enum drng_choice choice, enum drng_source last, char *text, size_t size)
{
    const unsigned better = last == DRNG_SOURCE_NONE ? DRNG_INSTRUCTIONS : last - DRNG_SOURCE_INSTRUCTION;
    char *const end = text + size - 1;
    *text = *end = '\0';
    for (unsigned i = 0; i < better; i++) {
        const char *denied = drng_library_denied(i);
        const char *why = denied != NULL ? denied : "too few words in its time";
        text = stpncpy(text, i > 0 ? "; " : "", (size_t)(end - text));
        text = stpncpy(text, drng_instruction_rows[i].name, (size_t)(end - text));
        text = stpncpy(text, ": ", (size_t)(end - text));
        text = stpncpy(text, chosen(choice, i) ? why : "left out by the choice", (size_t)(end - text));
    }
}

/* ---- Seeds ---- */

struct seeding {
    struct drng_root root;
    uint8_t *seed;
    size_t len;
};

static enum drng_result seed_once(void *vseeding, const struct drng_guard *guard)
{
    struct seeding *s = vseeding;
    return drng_root_seed(&s->root, guard, s->seed, s->len);
}

static int take_seed(uint8_t *seed, size_t len, enum drng_choice choice, enum drng_conditioning conditioning,
                     enum drng_source *served)
{
    struct drng_counters counters = {0};
    int error = drng_library_open(false);
    if (error == DRNG_SUCCESS) {
        const struct drng_seed_policy policy = policy_of(choice, conditioning, &counters);
        struct seeding seeding = {{.place = &drng_library.root, .policy = &policy, .open = true}, seed, len};
        error = error_of(choice, drng_guard_run_piecewise(seed_once, &seeding));
        *served = (enum drng_source)atomic_load(&seeding.root.last);
    }
    if (error != DRNG_SUCCESS) {
        drng_wipe(seed, len);
    }
    return error;
}

static struct drng_seed_info info_of(enum drng_source source, enum drng_conditioning conditioning)
{
    struct drng_seed_info info = {.source = name_of(source), .conditioner = "none"};
    info.grade = grade_of(source);
    if (info.grade == DRNG_GRADE_SEED || info.grade == DRNG_GRADE_GENERATOR) {
        info.conditioner = conditioning == DRNG_BY_CBC_MAC ? "AES-128-CBC-MAC" : "HMAC-SHA-256";
        const struct drng_instruction_row *row = &drng_instruction_rows[source - DRNG_SOURCE_INSTRUCTION];
        info.raw_words = (unsigned)row->window_words;
        info.claimed_bits = row->window_bits;
    }
    return info;
}

int drng_conditioned_seed(void *seed, size_t len, enum drng_choice choice, enum drng_conditioning conditioning,
                          struct drng_seed_info *info)
{
    enum drng_source served = DRNG_SOURCE_NONE;
    int error = DRNG_SUCCESS;
    if (len > PTRDIFF_MAX || (seed == NULL && len > 0) || !choice_exists(choice) ||
        (conditioning != DRNG_BY_CBC_MAC && conditioning != DRNG_BY_HMAC_SHA256)) {
        return DRNG_E_ARGUMENT;
    }
    if (len > 0) {
        error = take_seed(seed, len, choice, conditioning, &served);
    }
    if (info != NULL) {
        *info = info_of(served, conditioning);
    }
    return error;
}

/* ---- Handles ---- */

/* Where the hardware alone was chosen the kernel is not asked, and a request without a word might be a copy's, too. */
static drng *new_handle(enum drng_choice choice)
{
    drng *d = calloc(1, sizeof(*d));
    if (d == NULL) {
        return NULL;
    }
    d->choice = choice;
    d->policy = policy_of(choice, DRNG_BY_CBC_MAC, &d->counters);
    d->root = (struct drng_root){.place = &drng_library.root, .policy = &d->policy, .open = true};
    d->generator = (struct drng_generator){
        .source = &drng_root_source,
        .source_arg = &d->root,
        .personalization = {personalization, sizeof(personalization)},
        .aes = drng_library.machine.aes,
        .words = &drng_library.words,
        .mixing = drng_request_mixing_auto(&drng_library.machine.evidence.cpu),
        .hardware_words = choice != DRNG_ANY,
        .keeps_seed = true,
        .counters = &d->counters,
        .config = {.key_len = DRNG_AES_MAX_KEY,
                   .use_df = true,
                   .limits = {.requests = RESEED_REQUESTS, .interval = RESEED_SECONDS}},
    };
    if (!drng_generator_init(&d->generator)) {
        free(d);
        return NULL;
    }
    drng_generator_enable_locking(&d->generator);
    return d;
}

int drng_open(drng **handle, enum drng_choice choice)
{
    if (handle == NULL) {
        return DRNG_E_ARGUMENT;
    }
    *handle = NULL;
    if (!choice_exists(choice)) {
        return DRNG_E_ARGUMENT;
    }
    int error = drng_library_open(true);
    if (error != DRNG_SUCCESS) {
        return error;
    }
    drng *d = new_handle(choice);
    if (d == NULL) {
        return DRNG_E_MEMORY;
    }
    error = error_of(choice, drng_generator_instantiate(&d->generator, NULL, 0, false, nothing));
    if (error != DRNG_SUCCESS) {
        drng_close(d);
        return error;
    }
    *handle = d;
    return DRNG_SUCCESS;
}

int drng_read(drng *handle, void *bytes, size_t len)
{
    if (handle == NULL || len > PTRDIFF_MAX || (bytes == NULL && len > 0)) {
        return DRNG_E_ARGUMENT;
    }
    const enum drng_result result = drng_generator_generate(&handle->generator, bytes, len, 0, NULL);
    return __builtin_expect(result == DRNG_OK, 1) ? DRNG_SUCCESS : error_of(handle->choice, result);
}

int drng_reseed(drng *handle)
{
    return handle != NULL ? error_of(handle->choice, drng_generator_reseed(&handle->generator, false, nothing, nothing))
                          : DRNG_E_ARGUMENT;
}

int drng_info(drng *handle, struct drng_info *info)
{
    if (handle == NULL || info == NULL) {
        return DRNG_E_ARGUMENT;
    }
    const enum drng_source serving = (enum drng_source)atomic_load(&handle->root.serving);
    *info = (struct drng_info){
        .source = name_of(serving),
        .grade = grade_of(serving),
        .strength = DRNG_DRBG_STRENGTH(handle->generator.config.key_len),
        .seeds = atomic_load(&handle->generator.seedings) - 1, /* which begin with 1 */
        .fork_reseeds = atomic_load(&handle->counters.fork_reseeds),
        .clone_reseeds = atomic_load(&handle->counters.clone_reseeds),
    };
    write_reasons(handle->choice, (enum drng_source)atomic_load(&handle->root.last), info->others,
                  sizeof(info->others));
    return DRNG_SUCCESS;
}

void drng_close(drng *handle)
{
    if (handle != NULL) {
        drng_generator_cleanup(&handle->generator);
        free(handle);
    }
}

/* ---- Without a handle of the caller's ---- */

/* Made by the first call that can, and never closed: a child goes on with it as with any handle. */
static _Atomic(drng *) shared;

/* Two threads at once make one each, and the one that comes second closes its own. */
static int open_shared(drng **handle)
{
    drng *own = NULL;
    drng *there = NULL;
    const int error = drng_open(&own, DRNG_ANY);
    *handle = own;
    if (error == DRNG_SUCCESS && !atomic_compare_exchange_strong(&shared, &there, own)) {
        drng_close(own);
        *handle = there;
    }
    return error;
}

int drng_bytes(void *bytes, size_t len)
{
    drng *handle = atomic_load_explicit(&shared, memory_order_acquire);
    if (len > PTRDIFF_MAX || (bytes == NULL && len > 0)) {
        return DRNG_E_ARGUMENT;
    }
    const int error = handle == NULL ? open_shared(&handle) : DRNG_SUCCESS;
    if (error != DRNG_SUCCESS) {
        drng_wipe(bytes, len);
        return error;
    }
    return drng_read(handle, bytes, len);
}
