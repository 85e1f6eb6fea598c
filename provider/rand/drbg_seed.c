#include "provider/rand/drbg_seed.h"

#include <string.h>

#include <openssl/evp.h>

#include "mixing/machine/clone.h"
#include "mixing/machine/probes.h"
#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/process.h"
#include "provider/rand/seeding.h"
#include "provider/rand/store.h"

const unsigned char drng_default_personalization[29] = "OpenSSL NIST SP 800-90A DRBG";

struct drng_drbg_lengths drng_drbg_lengths_of(const struct drng_drbg *d)
{
    const size_t seedlen = drng_ctr_drbg_seedlen(d->key_len);
    if (!d->use_df) {
        return (struct drng_drbg_lengths){.min_entropy = seedlen, .max_entropy = seedlen, .max_input = seedlen};
    }
    return (struct drng_drbg_lengths){
        .min_entropy = d->key_len,
        .max_entropy = DRNG_DRBG_MAX_INPUT,
        .min_nonce = d->key_len / 2,
        .max_nonce = DRNG_DRBG_MAX_INPUT,
        .max_input = DRNG_DRBG_MAX_INPUT,
    };
}

void drng_drbg_forget(struct drng_drbg *d)
{
    drng_store_erase(d);
    drng_ctr_drbg_uninstantiate(&d->secrets->drbg);
    d->state = EVP_RAND_STATE_UNINITIALISED;
}

size_t drng_drbg_first_entropy_len(const struct drng_drbg *d)
{
    const struct drng_drbg_lengths lengths = drng_drbg_lengths_of(d);
    return lengths.min_entropy + lengths.min_nonce;
}

/* ---- Entropy input ---- */

struct seed {
    unsigned char *bytes;
    size_t len;
};

/* SP 800-90C permits a weaker parent under conditions that are not implemented here: refuse. */
static bool parent_can_seed(const struct drng_drbg *d)
{
    const struct drng_core *core = &d->provctx->core;
    if (d->parent.get_seed == NULL) {
        drng_raise(core, DRNG_R_PARENT_CANNOT_SEED, "it has no get_seed function");
        return false;
    }
    const unsigned strength = drng_parent_strength(&d->parent);
    if (strength < drng_drbg_strength(d)) {
        drng_raise(core, DRNG_R_PARENT_TOO_WEAK, "%u bits where this generator needs %u", strength,
                   drng_drbg_strength(d));
        return false;
    }
    return true;
}

/* The seed goes into the generator's slot, which a fork wipes. Nothing is allocated. */
static bool seed_from_own(struct drng_drbg *d, struct seed *seed, size_t len, bool prediction_resistance)
{
    *seed = (struct seed){d->secrets->entropy, len};
    if (d->parent.ctx == NULL) {
        return drng_seeding_fill_from_root(d->provctx, seed->bytes, len);
    }
    if (!parent_can_seed(d)) {
        return false;
    }
    if (!drng_parent_fill(&d->parent, d, seed->bytes, len, prediction_resistance)) {
        drng_raise(&d->provctx->core, DRNG_R_PARENT_GAVE_NO_SEED, "%zu bytes were asked for", len);
        return false;
    }
    return true;
}

static bool seed_from_parent(struct drng_drbg *d, struct seed *seed, unsigned entropy, size_t min_len, size_t max_len,
                             bool prediction_resistance)
{
    if (!parent_can_seed(d)) {
        return false;
    }
    seed->len = drng_parent_get_seed(&d->parent, &seed->bytes, entropy, min_len, max_len, prediction_resistance, d);
    if (seed->len < min_len || seed->len > max_len) {
        drng_raise(&d->provctx->core, DRNG_R_PARENT_GAVE_NO_SEED, "%zu bytes where at least %zu were asked for",
                   seed->len, min_len);
        if (seed->len > 0) {
            drng_parent_clear_seed(&d->parent, seed->bytes, seed->len);
        }
        return false;
    }
    return true;
}

static void free_seed(struct drng_drbg *d, struct seed *seed)
{
    if (seed->bytes == d->secrets->entropy) {
        drng_wipe(seed->bytes, seed->len);
    } else {
        drng_parent_clear_seed(&d->parent, seed->bytes, seed->len);
    }
}

/*
 * libcrypto makes its own seed source the parent if it is asked for a generator before it has read openssl.cnf, so this
 * parent may be nobody's choice, and the root must seed. Or somebody has chosen it, so its bytes must go in, too. They
 * are XORed, all of them, into those of the root, on which the claim of entropy rests alone: with `fallback = no` there
 * is no seed without an instruction.
 */
static bool seed_from_root_and_parent(struct drng_drbg *d, struct seed *seed, unsigned entropy, size_t min_len,
                                      size_t max_len, bool prediction_resistance)
{
    struct seed theirs;
    if (!seed_from_parent(d, &theirs, entropy, min_len, max_len, prediction_resistance)) {
        return false;
    }
    *seed = (struct seed){d->secrets->entropy, min_len};
    const bool filled = drng_seeding_fill_from_root(d->provctx, seed->bytes, seed->len);
    if (filled) {
        drng_seed_add(seed->bytes, seed->len, theirs.bytes, theirs.len);
    }
    free_seed(d, &theirs);
    return filled;
}

static bool is_own(const struct drng_parent *parent)
{
    return parent->ctx == NULL || parent->fill != NULL;
}

/* entropy in bits. The caller frees the seed with free_seed(). */
static bool get_seed(struct drng_drbg *d, struct seed *seed, unsigned entropy, size_t min_len, size_t max_len,
                     bool prediction_resistance)
{
    *seed = (struct seed){0};
    if (is_own(&d->parent)) {
        return seed_from_own(d, seed, min_len, prediction_resistance);
    }
    return d->root_joins ? seed_from_root_and_parent(d, seed, entropy, min_len, max_len, prediction_resistance)
                         : seed_from_parent(d, seed, entropy, min_len, max_len, prediction_resistance);
}

/* ---- Bookkeeping ---- */

/* Counts this seeding, and remembers the parent's count. */
static void note_seeded(struct drng_drbg *d, unsigned parent_seedings)
{
    d->state = EVP_RAND_STATE_READY;
    d->reseed_time = d->secrets->drbg.reseed_time;
    d->parent_seedings = parent_seedings;
    drng_drbg_count_seeding(d);
}

/* To be read after the seed was taken, since taking it may make the parent reseed. */
static unsigned parent_counter_now(struct drng_drbg *d)
{
    if (d->own_parent != NULL) {
        return drng_drbg_seedings(d->own_parent);
    }
    const unsigned counter = d->parent.ctx != NULL ? drng_parent_reseed_counter(&d->parent) : 0;
    d->parent_counts = counter != 0;
    return counter;
}

/* DRNG_RESEED_NEEDED: the process has just forked, and the child starts over; so no error is raised. */
static bool accept(struct drng_drbg *d, enum drng_result status)
{
    if (status == DRNG_OK) {
        note_seeded(d, parent_counter_now(d));
        return true;
    }
    if (status != DRNG_RESEED_NEEDED) {
        drng_raise(&d->provctx->core, DRNG_R_ENTROPY_LENGTH, NULL);
    }
    return false;
}

/* ---- Instantiate ---- */

/* The parent is asked for the length of its nonce first: provider-rand(7). False if it then returns another length. */
static bool parent_nonce(struct drng_drbg *d, const struct drng_drbg_lengths *lengths, struct seed *nonce)
{
    const struct drng_parent *parent = &d->parent;
    const unsigned strength = drng_drbg_strength(d);
    nonce->len = parent->nonce(parent->ctx, NULL, strength, lengths->min_nonce, lengths->max_nonce);
    nonce->bytes = nonce->len > 0 ? drng_zalloc(&d->provctx->core, nonce->len) : NULL;
    if (nonce->bytes != NULL &&
        parent->nonce(parent->ctx, nonce->bytes, strength, lengths->min_nonce, lengths->max_nonce) == nonce->len) {
        return true;
    }
    drng_free(&d->provctx->core, nonce->bytes);
    drng_raise(&d->provctx->core, DRNG_R_PARENT_GAVE_NO_SEED, "it offers a nonce and gave none");
    return false;
}

/*
 * SP 800-90A Rev. 1, 8.6.7 and 9.1: if the parent has no nonces, the entropy input is half as long again, and serves as
 * both.
 */
static bool instantiate_from(struct drng_drbg *d, const struct drng_drbg_lengths *lengths, struct seed nonce,
                             bool prediction_resistance, struct drng_bytes personalization)
{
    const bool combined = lengths->min_nonce > 0 && nonce.bytes == NULL;
    const unsigned strength = drng_drbg_strength(d);
    const size_t min_len = lengths->min_entropy + (combined ? lengths->min_nonce : 0);
    struct seed seed;

    if (!get_seed(d, &seed, combined ? strength + strength / 2 : strength, min_len, lengths->max_entropy,
                  prediction_resistance)) {
        return false;
    }
    const enum drng_result status = drng_ctr_drbg_instantiate(
        &d->secrets->drbg, drng_process.aes, d->key_len, d->use_df, (struct drng_bytes){seed.bytes, seed.len},
        (struct drng_bytes){nonce.bytes, nonce.len}, personalization, time(NULL));
    free_seed(d, &seed);
    return accept(d, status);
}

bool drng_drbg_seed_first(struct drng_drbg *d, bool prediction_resistance, struct drng_bytes personalization)
{
    const struct drng_drbg_lengths lengths = drng_drbg_lengths_of(d);
    struct seed nonce = {0};

    if (personalization.data == NULL) {
        personalization = (struct drng_bytes){drng_default_personalization, sizeof(drng_default_personalization)};
    }
    if (personalization.len > lengths.max_input) {
        drng_raise(&d->provctx->core, DRNG_R_INPUT_TOO_LONG, "at most %zu bytes", lengths.max_input);
        return false;
    }
    d->state = EVP_RAND_STATE_ERROR;
    /* Before the seed: a child that is forked meanwhile must not take what its parent was given for its own. */
    d->epoch = drng_epoch();
    d->generation = drng_fork_generation();
    if (lengths.min_nonce > 0 && d->parent.nonce != NULL && !parent_nonce(d, &lengths, &nonce)) {
        return false;
    }
    const bool seeded = instantiate_from(d, &lengths, nonce, prediction_resistance, personalization);
    drng_clear_free(&d->provctx->core, nonce.bytes, nonce.len);
    return seeded;
}

/* ---- Reseed ---- */

static bool reseed_from_source(struct drng_drbg *d, const struct drng_drbg_lengths *lengths, bool prediction_resistance,
                               struct drng_bytes additional)
{
    struct seed seed;
    if (!get_seed(d, &seed, drng_drbg_strength(d), lengths->min_entropy, lengths->max_entropy, prediction_resistance)) {
        return false;
    }
    const enum drng_result status =
        drng_ctr_drbg_reseed(&d->secrets->drbg, (struct drng_bytes){seed.bytes, seed.len}, additional, time(NULL));
    free_seed(d, &seed);
    return accept(d, status);
}

bool drng_drbg_seed_again(struct drng_drbg *d, bool prediction_resistance, struct drng_bytes entropy,
                          struct drng_bytes additional)
{
    const struct drng_drbg_lengths lengths = drng_drbg_lengths_of(d);

    drng_store_erase(d);
    d->state = EVP_RAND_STATE_ERROR;
    if (entropy.data != NULL) {
        /* The caller's entropy is used in addition to the source's, and never instead of it. */
        const enum drng_result status = drng_ctr_drbg_reseed(&d->secrets->drbg, entropy, additional, time(NULL));
        if (status != DRNG_OK) {
            return accept(d, status);
        }
        additional = (struct drng_bytes){NULL, 0};
    }
    if (!reseed_from_source(d, &lengths, prediction_resistance, additional)) {
        return false;
    }
    drng_count(&drng_stats.live->counters.reseeds);
    DRNG_PROBE2(reseed, drng_drbg_strength(d), atomic_load_explicit(&d->seedings, memory_order_relaxed));
    return true;
}
