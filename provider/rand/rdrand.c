#include "provider/rand/rdrand.h"

#include <string.h>

#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/observe/report.h"
#include "provider/process.h"
#include "provider/rand/instruction_rand.h"
#include "provider/rand/seeding.h"

enum {
    /*
     * The generator behind RDRAND is as strong as its AES: 128 bits on older CPUs. RSA keys of more than 3072 bits ask
     * for a higher strength, and RDRAND could not be the only generator if it refused them.
     */
    STRENGTH = 256,
    MAX_REQUEST = 4096, /* bytes: 512 words, within the time of one attempt */
};

/* The parent is ignored: libcrypto gives one to each of its generators, wanted or not. */
static void *newctx(void *vprovctx, void *parent, const OSSL_DISPATCH *parent_functions)
{
    (void)parent;
    (void)parent_functions;
    return drng_instruction_rand_new(vprovctx);
}

static struct drng_instruction *rdrand(void)
{
    return &drng_process.instructions[DRNG_WORDS_INSTRUCTION];
}

struct task {
    unsigned char *out;
    size_t len;
};

static enum drng_result read_words(void *arg, struct drng_seed_reader *reader)
{
    const struct task *task = arg;
    return drng_noise_fill(rdrand(), &reader->noise[DRNG_WORDS_INSTRUCTION], task->out, task->len);
}

static bool allowed(const struct drng_instruction_rand *ctx, enum drng_denial denial)
{
    if (denial != DRNG_ALLOWED) {
        drng_raise(&ctx->provctx->core, DRNG_R_RDRAND_UNAVAILABLE, "%s; use DRNG-SEED or CTR-DRBG",
                   drng_denial_text(denial));
        return false;
    }
    return true;
}

static bool gives_words(const struct drng_instruction_rand *ctx)
{
    return allowed(ctx, ctx->provctx->eligibility.words[DRNG_WORDS_INSTRUCTION]);
}

/* The key `source` chooses among instructions for those who did not name one, the key `claim` for all. */
static bool gives_seeds(const struct drng_instruction_rand *ctx)
{
    const bool counted =
        !ctx->provctx->config.certified || ctx->provctx->policy.certified[DRNG_WORDS_INSTRUCTION] != NULL;
    return gives_words(ctx) && allowed(ctx, counted ? DRNG_ALLOWED : DRNG_UNCERTIFIED);
}

/*
 * Its words are those of a DRBG inside the CPU, which nobody can tell to reseed: they cannot give prediction
 * resistance. Its seeds can as far as the makers' word goes: a window spans two reseeds of that DRBG.
 */
static bool can_promise(const struct drng_instruction_rand *ctx, bool prediction_resistance)
{
    if (prediction_resistance) {
        drng_raise(&ctx->provctx->core, DRNG_R_RDRAND_UNAVAILABLE,
                   "it cannot give prediction resistance; use DRNG-SEED or CTR-DRBG");
    }
    return !prediction_resistance;
}

static int generate(void *vctx, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                    const unsigned char *additional, size_t additional_len)
{
    struct drng_instruction_rand *ctx = vctx;
    struct task task = {.out = out, .len = len};
    (void)strength;
    (void)additional;
    (void)additional_len;

    if (!drng_instruction_rand_ready(ctx) || !gives_words(ctx) || !can_promise(ctx, prediction_resistance != 0)) {
        drng_wipe(out, len);
        return 0;
    }
    const enum drng_result status = drng_shared_reader_run(&ctx->shared, read_words, &task);
    drng_report_seed(ctx->provctx);
    if (status != DRNG_OK) {
        drng_wipe(out, len);
        drng_raise(&ctx->provctx->core, DRNG_R_RDRAND_FAILED,
                   "it stayed dry or failed its health tests; use DRNG-SEED or CTR-DRBG");
        return 0;
    }
    drng_request_counts_add(drng_request_counts_shared(), len);
    return 1;
}

/* A child must not get unconditioned words as a seed. Its seed is conditioned, and made of RDRAND alone. */
static struct drng_seed_policy rdrand_alone(const struct drng_instruction_rand *ctx)
{
    struct drng_seed_policy policy = ctx->provctx->policy;
    memset(policy.instructions, 0, sizeof(policy.instructions));
    policy.instructions[DRNG_WORDS_INSTRUCTION] = rdrand();
    policy.fallback = NULL;
    return policy;
}

bool drng_rdrand_fill(void *vctx, const void *child, unsigned char *out, size_t len, bool prediction_resistance)
{
    struct drng_instruction_rand *ctx = vctx;
    const struct drng_seed_policy policy = rdrand_alone(ctx);
    (void)child;
    (void)prediction_resistance;
    return gives_seeds(ctx) && drng_instruction_rand_ready(ctx) &&
           drng_seeding_fill(ctx->provctx, &policy, &ctx->shared, out, len);
}

static size_t get_seed(void *vctx, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                       int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    struct drng_instruction_rand *ctx = vctx;
    const struct drng_seed_policy policy = rdrand_alone(ctx);
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;
    return gives_seeds(ctx) ? drng_instruction_rand_get_seed(ctx, &policy, seed, entropy, min_len, max_len) : 0;
}

static int get_ctx_params(void *vctx, OSSL_PARAM params[])
{
    return drng_instruction_rand_get_params(vctx, params, STRENGTH, MAX_REQUEST);
}

const OSSL_DISPATCH drng_rdrand_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))newctx},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))drng_instruction_rand_freectx},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))drng_instruction_rand_instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))drng_instruction_rand_uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate},
    {OSSL_FUNC_RAND_RESEED, (void (*)(void))drng_instruction_rand_reseed},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))drng_instruction_rand_enable_locking},
    {OSSL_FUNC_RAND_LOCK, (void (*)(void))drng_instruction_rand_lock},
    {OSSL_FUNC_RAND_UNLOCK, (void (*)(void))drng_instruction_rand_unlock},
    {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))drng_instruction_rand_gettable_ctx_params},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params},
    {OSSL_FUNC_RAND_VERIFY_ZEROIZATION, (void (*)(void))drng_instruction_rand_verify_zeroization},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))drng_instruction_rand_clear_seed},
    {0, NULL},
};
