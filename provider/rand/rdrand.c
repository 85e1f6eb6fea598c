#include "provider/rand/rdrand.h"

#include <string.h>

#include "mixing/memory/wipe.h"
#include "provider/errors.h"
#include "provider/observe/report.h"
#include "provider/process.h"
#include "provider/rand/seeding.h"
#include "provider/rand/source.h"

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
    return drng_source_new(vprovctx);
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

static bool allowed(const struct drng_source_ctx *source)
{
    if (source->provctx->eligibility.words != DRNG_ALLOWED) {
        drng_raise(&source->provctx->core, DRNG_R_RDRAND_UNAVAILABLE, "%s; use DRNG-SEED or CTR-DRBG",
                   drng_denial_text(source->provctx->eligibility.words));
        return false;
    }
    return true;
}

static int generate(void *vsource, unsigned char *out, size_t len, unsigned strength, int prediction_resistance,
                    const unsigned char *additional, size_t additional_len)
{
    struct drng_source_ctx *source = vsource;
    struct task task = {.out = out, .len = len};
    (void)strength;
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;

    if (!drng_source_ready(source) || !allowed(source)) {
        drng_wipe(out, len);
        return 0;
    }
    const enum drng_result status = drng_shared_reader_run(&source->shared, read_words, &task);
    drng_report_seed(source->provctx);
    if (status != DRNG_OK) {
        drng_wipe(out, len);
        drng_raise(&source->provctx->core, DRNG_R_RDRAND_FAILED,
                   "it stayed dry or failed its health tests; use DRNG-SEED or CTR-DRBG");
        return 0;
    }
    drng_request_counts_add(drng_request_counts_shared(), len);
    return 1;
}

/* A child must not get unconditioned words as a seed. Its seed is conditioned, and made of RDRAND alone. */
static struct drng_seed_policy rdrand_alone(const struct drng_source_ctx *source)
{
    struct drng_seed_policy policy = source->provctx->policy;
    memset(policy.instructions, 0, sizeof(policy.instructions));
    policy.instructions[DRNG_WORDS_INSTRUCTION] = rdrand();
    policy.fallback = NULL;
    return policy;
}

bool drng_rdrand_fill(void *vsource, const void *child, unsigned char *out, size_t len, bool prediction_resistance)
{
    struct drng_source_ctx *source = vsource;
    const struct drng_seed_policy policy = rdrand_alone(source);
    (void)child;
    (void)prediction_resistance;
    return allowed(source) && drng_source_ready(source) &&
           drng_seeding_fill(source->provctx, &policy, &source->shared, out, len);
}

static size_t get_seed(void *vsource, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                       int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    struct drng_source_ctx *source = vsource;
    const struct drng_seed_policy policy = rdrand_alone(source);
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;
    return allowed(source) ? drng_source_get_seed(source, &policy, seed, entropy, min_len, max_len) : 0;
}

static int get_ctx_params(void *vsource, OSSL_PARAM params[])
{
    return drng_source_get_params(vsource, params, STRENGTH, MAX_REQUEST);
}

const OSSL_DISPATCH drng_rdrand_functions[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))newctx},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))drng_source_freectx},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))drng_source_instantiate},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))drng_source_uninstantiate},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generate},
    {OSSL_FUNC_RAND_RESEED, (void (*)(void))drng_source_reseed},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))drng_source_enable_locking},
    {OSSL_FUNC_RAND_LOCK, (void (*)(void))drng_source_lock},
    {OSSL_FUNC_RAND_UNLOCK, (void (*)(void))drng_source_unlock},
    {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))drng_source_gettable_ctx_params},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))get_ctx_params},
    {OSSL_FUNC_RAND_VERIFY_ZEROIZATION, (void (*)(void))drng_source_verify_zeroization},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))drng_source_clear_seed},
    {0, NULL},
};
