/* SPDX-License-Identifier: Apache-2.0 */
/* DRNG-SEED and RDRAND as provider-rand(7) has them, and the sources of seeds for drng's own generators. */

#include "provider/rand/instruction_rand.h"

#include <openssl/core_names.h>
#include <openssl/e_os2.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "mixing/machine/wipe.h"
#include "provider/errors.h"
#include "provider/observe/report.h"
#include "provider/params.h"
#include "provider/process.h"

/* ---- Seeds ---- */

static const char rdrand_failed[] = "it stayed dry or failed its health tests; use DRNG-SEED or CTR-DRBG";

static void raise_words_denied(const struct drng_provctx *provctx, enum drng_denial denial)
{
    drng_raise(&provctx->core, DRNG_R_RDRAND_UNAVAILABLE, "%s; use DRNG-SEED or CTR-DRBG", drng_denial_text(denial));
}

int drng_raise_unseeded(struct drng_provctx *provctx, const struct drng_root *root, enum drng_result result,
                        bool drawing)
{
    const struct drng_core *core = &provctx->core;
    const enum drng_denial denial = provctx->eligibility.words[DRNG_WORDS_INSTRUCTION];
    const bool of_words = root != NULL && root->policy->fallback_arg == NULL; /* settle_policy() */
    char why[DRNG_WHY_SIZE];
    if (result != DRNG_BUSY) {
        drng_report_seed(provctx);
    }
    if (result == DRNG_NO_SEED && root != NULL) {
        drng_raise(core, DRNG_R_NOT_INSTANTIATED, NULL);
    } else if (result == DRNG_NO_FALLBACK && of_words && denial != DRNG_ALLOWED) {
        raise_words_denied(provctx, denial);
    } else if (result == DRNG_NO_FALLBACK && of_words) {
        drng_raise(core, DRNG_R_RDRAND_FAILED, rdrand_failed);
    } else if (result == DRNG_NO_FALLBACK) {
        drng_raise(core, DRNG_R_NO_SEED_SOURCE,
                   "%s; allow the default seed source with fallback = yes, or use a CPU that can",
                   drng_report_unserved(provctx, why));
    } else if (result == DRNG_FALLBACK_FAILED) {
        drng_raise(core, DRNG_R_FALLBACK_FAILED, "%s; check that the process may call getrandom()",
                   drng_report_unserved(provctx, why));
    }
    return drng_raise_result(core, result, drawing);
}

static enum drng_result test_instructions(void *vprovctx, const struct drng_guard *guard)
{
    struct drng_provctx *provctx = vprovctx;
    return drng_root_test(&provctx->root, guard);
}

bool drng_test_instructions(struct drng_provctx *provctx)
{
    const enum drng_result result = drng_guard_run_piecewise(test_instructions, provctx);
    drng_report_seed(provctx);
    if (result == DRNG_HEALTH_FAILED) {
        drng_raise(&provctx->core, DRNG_R_HEALTH_FAILED, "%s", drng_report_disabled_reason(provctx));
        return false;
    }
    return drng_raise_result(&provctx->core, result, true) != 0;
}

unsigned char *drng_seed_buffer(const struct drng_core *core, int entropy, size_t min_len, size_t max_len, size_t *len)
{
    const size_t wanted = entropy > 0 ? ((size_t)entropy + 7) / 8 : 0;
    *len = wanted > min_len ? wanted : min_len;
    if (*len == 0 || *len > max_len) {
        drng_raise(core, DRNG_R_SEED_LENGTH, "%d bits in %zu to %zu bytes", entropy, min_len, max_len);
        return NULL;
    }
    unsigned char *buffer = drng_secure_malloc(core, *len);
    if (buffer == NULL) {
        drng_raise(core, DRNG_R_OUT_OF_MEMORY, NULL);
    }
    return buffer;
}

/* ---- Contexts ---- */

enum kind { SEED_SOURCE, WORDS };

struct context {
    struct drng_provctx *provctx;
    enum kind kind;
    struct drng_place place;
    struct drng_root root; /* open once it is instantiated */
};

/* What libcrypto is told of each kind. */
static const struct {
    unsigned strength;  /* bits */
    size_t max_request; /* bytes */
} limits[] = {
    /* As libcrypto's SEED-SRC, so that it can seed a generator of any strength. */
    [SEED_SOURCE] = {1024, DRNG_SEED_PIECE},
    /*
     * The generator behind RDRAND is as strong as its AES: 128 bits on older CPUs. RSA keys of more than 3072 bits ask
     * for a higher strength, and RDRAND could not be the only generator if it refused them. 512 words are within the
     * time of one attempt.
     */
    [WORDS] = {256, 4096},
};

static struct context *new_context(struct drng_provctx *provctx, enum kind kind)
{
    struct context *ctx = drng_zalloc(&provctx->core, sizeof(*ctx));
    if (ctx == NULL || !drng_place_make(&ctx->place, DRNG_WIDE_SLOT_SIZE)) {
        drng_raise(&provctx->core, DRNG_R_OUT_OF_MEMORY, NULL);
        drng_free(&provctx->core, ctx);
        return NULL;
    }
    ctx->provctx = provctx;
    ctx->kind = kind;
    ctx->root = (struct drng_root){
        .place = &ctx->place,
        .policy = kind == WORDS ? &provctx->words_policy : &provctx->policy,
    };
    return ctx;
}

static void *new_seed_source(void *vprovctx, void *parent, ossl_unused const OSSL_DISPATCH *parent_functions)
{
    struct drng_provctx *provctx = vprovctx;
    if (parent != NULL) {
        drng_raise(&provctx->core, DRNG_R_SEED_SOURCE_WITH_PARENT, NULL);
        return NULL;
    }
    return new_context(provctx, SEED_SOURCE);
}

/* The parent is ignored: libcrypto gives one to each of its generators, wanted or not. */
static void *new_rdrand(void *vprovctx, ossl_unused void *parent, ossl_unused const OSSL_DISPATCH *parent_functions)
{
    return new_context(vprovctx, WORDS);
}

struct drng_root *drng_context_root(void *ctx)
{
    return &((struct context *)ctx)->root;
}

static void freectx(void *vctx)
{
    struct context *ctx = vctx;
    if (ctx != NULL) {
        drng_place_free(&ctx->place);
        drng_free(&ctx->provctx->core, ctx);
    }
}

/*
 * Always succeeds: if a seed source does not instantiate, libcrypto silently seeds from the operating system. An error
 * is raised when a seed is asked for.
 */
static int instantiate(void *vctx, ossl_unused unsigned strength, ossl_unused int prediction_resistance,
                       ossl_unused const unsigned char *personalization, ossl_unused size_t personalization_len,
                       ossl_unused const OSSL_PARAM params[])
{
    struct context *ctx = vctx;
    atomic_store(&ctx->root.open, true);
    return 1;
}

/* There are no lock() and unlock(): each call takes the lock of the reader itself, and always (seed.h). */
static int enable_locking(ossl_unused void *vctx)
{
    return 1;
}

#define GETTABLE(NUMBER)                                                                                               \
    NUMBER(OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL),                                                                \
           atomic_load(&ctx->root.open) ? EVP_RAND_STATE_READY : EVP_RAND_STATE_UNINITIALISED)                         \
    NUMBER(OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL), limits[ctx->kind].strength)                                \
    NUMBER(OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL), limits[ctx->kind].max_request)

static const OSSL_PARAM *gettable_ctx_params(ossl_unused void *vctx, ossl_unused void *provctx)
{
    static const OSSL_PARAM known[] = {GETTABLE(DRNG_KNOWN) OSSL_PARAM_END};
    return known;
}

static int get_ctx_params(void *vctx, OSSL_PARAM params[])
{
    struct context *ctx = vctx;
    const struct drng_answer answers[] = {GETTABLE(DRNG_NUMBER)};
    return drng_params_answer(params, answers, sizeof(answers) / sizeof(*answers));
}

/* ---- Seeds and words of a context ---- */

/*
 * RDRAND's words are those of a DRBG inside the CPU, which nobody can tell to reseed: they cannot give prediction
 * resistance. Its seeds can as far as the makers' word goes: a window spans two reseeds of that DRBG.
 */
static bool may_serve(const struct context *ctx, bool prediction_resistance)
{
    const struct drng_core *core = &ctx->provctx->core;
    const enum drng_denial denial = ctx->provctx->eligibility.words[DRNG_WORDS_INSTRUCTION];
    if (atomic_load_explicit(&drng_failed_algorithm, memory_order_relaxed) != NULL) {
        drng_raise(core, DRNG_R_SELF_TEST_FAILED, NULL);
    } else if (!atomic_load_explicit(&ctx->root.open, memory_order_relaxed)) {
        drng_raise(core, DRNG_R_NOT_INSTANTIATED, NULL);
    } else if (ctx->kind == WORDS && denial != DRNG_ALLOWED) {
        raise_words_denied(ctx->provctx, denial);
    } else if (ctx->kind == WORDS && prediction_resistance) {
        drng_raise(core, DRNG_R_RDRAND_UNAVAILABLE, "it cannot give prediction resistance; use DRNG-SEED or CTR-DRBG");
    } else {
        return true;
    }
    return false;
}

struct filling {
    struct context *ctx;
    uint8_t *out;
    size_t len;
};

static enum drng_result fill_with_seed(void *vfilling, const struct drng_guard *guard)
{
    const struct filling *f = vfilling;
    return drng_root_seed(&f->ctx->root, guard, f->out, f->len);
}

static enum drng_result fill_with_words(void *vfilling, const struct drng_guard *guard)
{
    const struct filling *f = vfilling;
    struct drng_root_slot *slot = drng_root_take(&f->ctx->place, guard);
    if (slot == NULL) {
        return drng_place_denial(&f->ctx->place);
    }
    struct drng_instruction *in = &drng_process.machine.instructions[DRNG_WORDS_INSTRUCTION];
    const enum drng_result result =
        drng_noise_fill(in, &slot->reader.noise[DRNG_WORDS_INSTRUCTION], in->row->tries, true, f->out, f->len);
    drng_root_give_back(&f->ctx->place, guard, slot);
    return result;
}

/* One call of libcrypto's. False: out is wiped, and an error is in the queue, or the call was refused. */
static bool fill(struct context *ctx, uint8_t *out, size_t len, bool words)
{
    struct filling filling = {ctx, out, len};
    uint64_t epoch = 0;
    do { /* a child, or a copy, made since holds its parent's words, too */
        epoch = drng_epoch();
        const enum drng_result result = drng_guard_run_piecewise(words ? fill_with_words : fill_with_seed, &filling);
        if (result != DRNG_OK) {
            if (words && result != DRNG_BUSY && result != DRNG_OTHER_PROCESS) {
                drng_raise(&ctx->provctx->core, DRNG_R_RDRAND_FAILED, rdrand_failed);
            }
            (void)drng_raise_unseeded(ctx->provctx, &ctx->root, result, false);
            drng_wipe(out, len);
            return false;
        }
        drng_report_seed(ctx->provctx);
    } while (drng_epoch() != epoch);
    return true;
}

static int generate(void *vctx, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                    ossl_unused const unsigned char *additional, ossl_unused size_t additional_len)
{
    struct context *ctx = vctx;
    const unsigned has = limits[ctx->kind].strength;
    if (strength > has) {
        drng_raise(&ctx->provctx->core, DRNG_R_STRENGTH_TOO_HIGH, "%u bits where it has %u", strength, has);
    }
    if (strength > has || !may_serve(ctx, prediction_resistance != 0)) {
        drng_wipe(out, len);
        return 0;
    }
    if (!fill(ctx, out, len, ctx->kind == WORDS)) {
        return 0;
    }
    drng_request_counts_add(drng_request_counts_shared(), true, len);
    return 1;
}

static size_t get_seed(void *vctx, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                       ossl_unused int prediction_resistance, ossl_unused const unsigned char *additional,
                       ossl_unused size_t additional_len)
{
    struct context *ctx = vctx;
    size_t len = 0;
    unsigned char *buffer =
        may_serve(ctx, false) ? drng_seed_buffer(&ctx->provctx->core, entropy, min_len, max_len, &len) : NULL;
    if (buffer == NULL) {
        return 0;
    }
    if (!fill(ctx, buffer, len, false)) {
        drng_secure_clear_free(&ctx->provctx->core, buffer, len);
        return 0;
    }
    *seed = buffer;
    return len;
}

static void clear_seed(void *vctx, unsigned char *seed, size_t len)
{
    const struct context *ctx = vctx;
    drng_secure_clear_free(&ctx->provctx->core, seed, len);
}

/* Nothing to do: every word is new. What generate() refuses is refused here, too. */
static int reseed(void *vctx, int prediction_resistance, ossl_unused const unsigned char *entropy,
                  ossl_unused size_t entropy_len, ossl_unused const unsigned char *additional,
                  ossl_unused size_t additional_len)
{
    return may_serve(vctx, prediction_resistance != 0);
}

/* ---- The end ---- */

static enum drng_result wipe_reader(ossl_unused void *vctx, struct drng_guarded *slot,
                                    ossl_unused const struct drng_guard *guard)
{
    drng_guard_wipe(slot, DRNG_WIDE_SLOT_SIZE);
    return DRNG_OK;
}

static int uninstantiate(void *vctx)
{
    struct context *ctx = vctx;
    const bool was_open = atomic_exchange(&ctx->root.open, false); /* first: nobody fills what has been wiped */
    const enum drng_result result = drng_guard_run(&ctx->place, DRNG_WAITS, wipe_reader, ctx);
    if (result != DRNG_OK) {
        atomic_store(&ctx->root.open, was_open);
        return drng_raise_result(&ctx->provctx->core, result, true);
    }
    return 1;
}

/* DRNG_OK: the reader holds nothing. */
static enum drng_result look_at_reader(ossl_unused void *vctx, struct drng_guarded *slot,
                                       ossl_unused const struct drng_guard *guard)
{
    const size_t head = sizeof(*slot);
    return drng_is_wiped((const uint8_t *)slot + head, DRNG_WIDE_SLOT_SIZE - head) ? DRNG_OK : DRNG_INSTANTIATED;
}

static int verify_zeroization(void *vctx)
{
    struct context *ctx = vctx;
    return drng_guard_run(&ctx->place, DRNG_WAITS, look_at_reader, ctx) == DRNG_OK;
}

/* All but newctx. */
#define SHARED_FUNCTIONS                                                                                               \
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))freectx}, {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))instantiate},      \
        {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))uninstantiate},                                                 \
        {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate}, {OSSL_FUNC_RAND_RESEED, (void (*)(void))reseed},          \
        {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))enable_locking},                                               \
        {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))gettable_ctx_params},                                     \
        {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params},                                               \
        {OSSL_FUNC_RAND_VERIFY_ZEROIZATION, (void (*)(void))verify_zeroization},                                       \
        {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))get_seed}, {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))clear_seed},  \
    {                                                                                                                  \
        0, NULL                                                                                                        \
    }

const OSSL_DISPATCH drng_seed_src_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))new_seed_source},
    SHARED_FUNCTIONS,
};

const OSSL_DISPATCH drng_rdrand_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))new_rdrand},
    SHARED_FUNCTIONS,
};
