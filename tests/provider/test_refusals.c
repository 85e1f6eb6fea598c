/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refusals that no other test demands: of CTR-DRBG, called as libcrypto calls it, under a parent of the test's own.
 * Each has its reason, puts out nothing, and leaves a generator that serves the next request.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "provider/errors.h"
#include "provider/rand/instruction_rand.h"
#include "tests/provider/drbg_functions.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

static struct drng_provctx *provctx;

/* ---- A parent that does as it is told ---- */

static unsigned parent_strength;
static bool parent_locks;
static size_t parent_seed_len;    /* 0: as long as asked for */
static unsigned parent_cleared;   /* seeds given back */
static size_t parent_asked_len;   /* bytes that were asked for last */
static int parent_asked_bits;     /* and the entropy in them */
static bool parent_cancellable;   /* the thread could have been cancelled then */
static void (*in_get_seed)(void); /* NULL for nothing */
static void (*in_parent)(void);   /* in each call of the parent's; NULL for nothing */

static void run_in_parent(void)
{
    if (in_parent != NULL) {
        in_parent();
    }
}

static int parent_enable_locking(void *parent)
{
    return parent_locks;
}

static int parent_get_ctx_params(void *parent, OSSL_PARAM params[])
{
    run_in_parent();
    OSSL_PARAM *strength = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STRENGTH);
    OSSL_PARAM *max_request = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_MAX_REQUEST);
    return (strength == NULL || OSSL_PARAM_set_uint(strength, parent_strength)) &&
           (max_request == NULL || OSSL_PARAM_set_uint(max_request, 128));
}

static size_t parent_get_seed(void *parent, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                              int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    static unsigned char bytes[64];
    parent_asked_len = min_len;
    parent_asked_bits = entropy;
    int state = PTHREAD_CANCEL_ENABLE;
    int unused = PTHREAD_CANCEL_ENABLE;
    CU_ASSERT_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
    CU_ASSERT_EQUAL(pthread_setcancelstate(state, &unused), 0);
    parent_cancellable |= state == PTHREAD_CANCEL_ENABLE;
    run_in_parent();
    if (in_get_seed != NULL) {
        void (*in_the_middle)(void) = in_get_seed;
        in_get_seed = NULL;
        in_the_middle();
    }
    memset(bytes, 0x5a, sizeof(bytes));
    *seed = bytes;
    return parent_seed_len != 0 ? parent_seed_len : min_len;
}

static void parent_clear_seed(void *parent, unsigned char *seed, size_t len)
{
    run_in_parent();
    parent_cleared += seed != NULL;
}

static bool parent_can_be_locked = true;
static unsigned parent_unlocked;

static int parent_lock(void *parent)
{
    return parent_can_be_locked;
}

static void parent_unlock(void *parent)
{
    parent_unlocked++;
}

static const OSSL_DISPATCH parent_functions[] = {
    {OSSL_FUNC_RAND_LOCK, (void (*)(void))parent_lock},
    {OSSL_FUNC_RAND_UNLOCK, (void (*)(void))parent_unlock},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))parent_enable_locking},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))parent_get_ctx_params},
    {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))parent_get_seed},
    {OSSL_FUNC_RAND_CLEAR_SEED, (void (*)(void))parent_clear_seed},
    {0, NULL},
};

static void (*function(int id))(void)
{
    const OSSL_DISPATCH *functions = drng_drbg_functions;
    while (functions->function_id != id && functions->function_id != 0) {
        functions++;
    }
    if (functions->function_id == 0) {
        abort();
    }
    return functions->function;
}

static OSSL_FUNC_rand_reseed_fn *reseed;
static OSSL_FUNC_rand_uninstantiate_fn *uninstantiate;
static OSSL_FUNC_rand_get_seed_fn *get_seed;
static OSSL_FUNC_rand_clear_seed_fn *clear_seed;
static OSSL_FUNC_rand_set_ctx_params_fn *set_ctx_params;
static OSSL_FUNC_rand_get_ctx_params_fn *get_ctx_params;

static struct drng_drbg *new_drbg(void)
{
    static int parent;
    parent_strength = 256;
    parent_locks = true;
    struct drng_drbg *drbg = drbg_newctx(provctx, &parent, parent_functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    fake_error_reason = 0;
    return drbg;
}

static struct drng_drbg *ready_drbg(void)
{
    struct drng_drbg *drbg = new_drbg();
    CU_ASSERT_EQUAL_FATAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    return drbg;
}

static bool serves(struct drng_drbg *drbg)
{
    unsigned char out[16] = {0};
    return drbg_generate(drbg, out, sizeof(out), 256, 0, NULL, 0) == 1 && !bytes_are(out, sizeof(out), 0);
}

/* ---- Parents ---- */

UNIT_TEST("a parent weaker than the generator does not seed it")
{
    static const unsigned strengths[] = {0, 128, 255};
    for (size_t i = 0; i < sizeof(strengths) / sizeof(*strengths); i++) {
        struct drng_drbg *drbg = new_drbg();
        parent_strength = strengths[i];
        CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 0);
        CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
        CU_ASSERT_EQUAL(atomic_load(&drbg->generator.status), EVP_RAND_STATE_ERROR);
        parent_strength = 256;
        CU_ASSERT_TRUE(serves(drbg));
        drbg_freectx(drbg);
    }
}

/* Drng's own are asked past get_seed, and are no stronger for it. */
UNIT_TEST("a weaker generator of the same kind does not seed it")
{
    static char cipher[] = "AES-128-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    struct drng_drbg *weak = drbg_newctx(provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weak);
    CU_ASSERT_EQUAL_FATAL(drbg_instantiate(weak, 128, 0, NULL, 0, params), 1);
    struct drng_drbg *drbg = drbg_newctx(provctx, weak, drng_drbg_functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
    CU_ASSERT_EQUAL(atomic_load(&weak->generator.seedings), 2); /* its own seed, and none for the child */
    drbg_freectx(drbg);
    drbg_freectx(weak);
}

/* Once it is seeded, too. */
UNIT_TEST("a parent that has become weaker does not reseed it")
{
    unsigned char out[16];
    struct drng_drbg *drbg = ready_drbg();
    parent_strength = 128;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out), 256, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    drbg_freectx(drbg);
}

/* What it gave goes back to it all the same. */
UNIT_TEST("a seed that is too short or too long is not taken")
{
    int use_df = 0;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    /* Without a derivation function it is seedlen and nothing else. */
    static const size_t lengths[] = {1, DRNG_DRBG_MAX_SEEDLEN - 1, DRNG_DRBG_MAX_SEEDLEN + 1};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct drng_drbg *drbg = new_drbg();
        parent_seed_len = lengths[i];
        parent_cleared = 0;
        CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, params), 0);
        CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_GAVE_NO_SEED);
        CU_ASSERT_EQUAL(parent_cleared, 1);
        parent_seed_len = 0;
        CU_ASSERT_TRUE(serves(drbg));
        CU_ASSERT_EQUAL(parent_cleared, 2);
        drbg_freectx(drbg);
    }
}

UNIT_TEST("a parent that cannot be locked is not shared")
{
    struct drng_drbg *drbg = new_drbg();
    parent_locks = false;
    CU_ASSERT_EQUAL(drbg_enable_locking(drbg), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_LOCK);
    CU_ASSERT_FALSE(drbg->generator.locking);
    parent_locks = true;
    CU_ASSERT_EQUAL(drbg_enable_locking(drbg), 1);
    drbg_freectx(drbg);
}

/* What is not locked is not asked, and not unlocked. */
UNIT_TEST("a parent whose lock fails is not asked")
{
    struct drng_drbg *drbg = ready_drbg();
    const unsigned unlocked = parent_unlocked;
    const unsigned cleared = parent_cleared;
    parent_can_be_locked = false;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
    CU_ASSERT_EQUAL(parent_unlocked, unlocked);
    CU_ASSERT_EQUAL(parent_cleared, cleared);
    parent_can_be_locked = true;
    CU_ASSERT_TRUE(serves(drbg));
    CU_ASSERT_TRUE(parent_unlocked > unlocked);
    drbg_freectx(drbg);
}

static size_t no_nonce(void *parent, unsigned char *out, unsigned strength, size_t min_len, size_t max_len)
{
    return out == NULL ? min_len : 0;
}

/* It is offered, with a length, and then it does not come. */
UNIT_TEST("a nonce that does not come is missed")
{
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))parent_get_ctx_params},
        {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))parent_get_seed},
        {OSSL_FUNC_RAND_NONCE, (void (*)(void))no_nonce},
        {0, NULL},
    };
    int parent = 0;
    struct drng_drbg *drbg = drbg_newctx(provctx, &parent, functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_GAVE_NO_SEED);
    CU_ASSERT_EQUAL(atomic_load(&drbg->generator.status), EVP_RAND_STATE_ERROR);
    drbg_freectx(drbg);
}

/* As much more as SP 800-90A, 8.6.7 and 9.1, wants where there is no nonce: half of the strength. */
UNIT_TEST("a parent without nonces gives more")
{
    struct drng_drbg *drbg = ready_drbg();
    CU_ASSERT_EQUAL(parent_asked_len, 32 + 16);
    CU_ASSERT_EQUAL(parent_asked_bits, 256 + 128);
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(parent_asked_len, 32);
    CU_ASSERT_EQUAL(parent_asked_bits, 256);
    drbg_freectx(drbg);
}

/* It may be a cancellation point, and the generator is locked meanwhile. */
UNIT_TEST("a thread is not cancelled while its parent works")
{
    int state = PTHREAD_CANCEL_DISABLE;
    parent_cancellable = false;
    struct drng_drbg *drbg = ready_drbg();
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_FALSE(parent_cancellable);
    CU_ASSERT_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
    CU_ASSERT_EQUAL(state, PTHREAD_CANCEL_ENABLE);
    drbg_freectx(drbg);
}

/* However far away it is: the answers are the standard's. */
UNIT_TEST("a chain is as foreign as its end")
{
    const enum drng_request_mixing mixing = provctx->mixing;
    provctx->mixing = DRNG_MIX_ALWAYS;
    struct drng_drbg *parent = new_drbg();
    struct drng_drbg *child = drbg_newctx(provctx, parent, drng_drbg_functions);
    struct drng_drbg *own = drbg_newctx(provctx, NULL, NULL);
    CU_ASSERT_TRUE_FATAL(child != NULL && own != NULL);
    CU_ASSERT_TRUE(parent->is_foreign && child->is_foreign);
    CU_ASSERT_FALSE(own->is_foreign);
    CU_ASSERT_EQUAL(parent->generator.mixing, DRNG_MIX_NEVER);
    CU_ASSERT_EQUAL(child->generator.mixing, DRNG_MIX_NEVER);
    CU_ASSERT_EQUAL(own->generator.mixing, DRNG_MIX_ALWAYS);
    drbg_freectx(own);
    drbg_freectx(child);
    drbg_freectx(parent);
    provctx->mixing = mixing;
}

static void draw_after_reseed(struct drng_drbg *drbg, const unsigned char *entropy, unsigned char out[16])
{
    const unsigned cleared = parent_cleared;
    CU_ASSERT_EQUAL(reseed(drbg, 0, entropy, entropy != NULL ? 32 : 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(parent_cleared, cleared + 1);
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, 16, 256, 0, NULL, 0), 1);
    drbg_freectx(drbg);
}

/* It goes in, and the parent's is taken all the same, which is always the same here. */
UNIT_TEST("entropy of the caller's is added to the parent's")
{
    static const unsigned char entropy[2][32] = {{1}, {2}};
    unsigned char out[4][16];
    draw_after_reseed(ready_drbg(), NULL, out[0]);
    draw_after_reseed(ready_drbg(), NULL, out[1]);
    draw_after_reseed(ready_drbg(), entropy[0], out[2]);
    draw_after_reseed(ready_drbg(), entropy[1], out[3]);
    CU_ASSERT_EQUAL(memcmp(out[0], out[1], 16), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(out[0], out[2], 16), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(out[2], out[3], 16), 0);
}

/* ---- The seed source ---- */

UNIT_TEST("a seed source without a source fails")
{
    const struct drng_seed_policy policy = provctx->policy;
    void *source = seedsrc_newctx(provctx, NULL, NULL);
    unsigned char out[48];
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    CU_ASSERT_EQUAL(seedsrc_instantiate(source, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(seedsrc_generate(source, out, sizeof(out), 0, 0, NULL, 0), 1);
    provctx->policy.instructions[DRNG_RDSEED] = NULL;
    provctx->policy.instructions[DRNG_RDRAND] = NULL;
    provctx->policy.fallback = NULL;
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(seedsrc_generate(source, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_NO_SEED_SOURCE);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    provctx->policy = policy;
    CU_ASSERT_EQUAL(seedsrc_generate(source, out, sizeof(out), 0, 0, NULL, 0), 1);
    seedsrc_freectx(source);
}

/* A caller that asks for a number as a text is told so. */
UNIT_TEST("a parameter that cannot be given is an error")
{
    static const char *const names[] = {OSSL_RAND_PARAM_STATE, OSSL_RAND_PARAM_STRENGTH, OSSL_RAND_PARAM_MAX_REQUEST};
    OSSL_FUNC_rand_get_ctx_params_fn *get =
        (OSSL_FUNC_rand_get_ctx_params_fn *)seedsrc_function(OSSL_FUNC_RAND_GET_CTX_PARAMS);
    void *source = seedsrc_newctx(provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char text[16] = "";
        OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(names[i], text, sizeof(text)),
                               OSSL_PARAM_construct_end()};
        CU_ASSERT_EQUAL(get(source, params), 0);
    }
    CU_ASSERT_EQUAL(get(source, NULL), 1);
    seedsrc_freectx(source);
}

/* ---- Lengths ---- */

UNIT_TEST("a request that is too long puts out nothing")
{
    static unsigned char out[DRNG_DRBG_MAX_REQUEST + 1];
    struct drng_drbg *drbg = ready_drbg();
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out), 256, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_REQUEST_TOO_LONG);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(atomic_load(&drbg->generator.status), EVP_RAND_STATE_READY);
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out) - 1, 256, 0, NULL, 0), 1);
    drbg_freectx(drbg);
}

/* Without a derivation function they are as long as seedlen at the most. */
UNIT_TEST("an additional input that is too long is refused")
{
    static const unsigned char input[DRNG_DRBG_MAX_SEEDLEN + 1];
    unsigned char out[16];
    int use_df = 0;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    struct drng_drbg *drbg = new_drbg();
    CU_ASSERT_EQUAL_FATAL(drbg_instantiate(drbg, 256, 0, NULL, 0, params), 1);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out), 256, 0, input, sizeof(input)), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_INPUT_TOO_LONG);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(atomic_load(&drbg->generator.status), EVP_RAND_STATE_READY);
    fake_error_reason = 0;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, input, sizeof(input)), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_INPUT_TOO_LONG);
    CU_ASSERT_EQUAL(atomic_load(&drbg->generator.status), EVP_RAND_STATE_READY);
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out), 256, 0, input, sizeof(input) - 1), 1);
    drbg_freectx(drbg);
}

UNIT_TEST("a seed of an impossible length is refused")
{
    unsigned char *seed = NULL;
    struct drng_drbg *drbg = ready_drbg();
    CU_ASSERT_EQUAL(get_seed(drbg, &seed, 256, 16, 31, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_SEED_LENGTH);
    fake_error_reason = 0;
    CU_ASSERT_EQUAL(get_seed(drbg, &seed, 128, 48, 47, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_SEED_LENGTH);
    CU_ASSERT_PTR_NULL(seed);
    CU_ASSERT_EQUAL(get_seed(drbg, &seed, 256, 16, 32, 0, NULL, 0), 32);
    clear_seed(drbg, seed, 32);
    drbg_freectx(drbg);
}

/* ---- Parameters ---- */

UNIT_TEST("a parameter of the wrong type changes nothing")
{
    static char text[] = "1";
    static const char *const names[] = {OSSL_DRBG_PARAM_USE_DF, OSSL_DRBG_PARAM_RESEED_REQUESTS,
                                        OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL};
    struct drng_drbg *drbg = ready_drbg();
    const struct drng_reseed_limits limits = drbg->generator.config.limits;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        unsigned requests = 77;
        const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
                                     OSSL_PARAM_construct_utf8_string(names[i], text, 0), OSSL_PARAM_construct_end()};
        /* The first parameter is good: of the two all or none is taken. */
        const OSSL_PARAM *given = i == 1 ? params + 1 : params;
        CU_ASSERT_EQUAL(set_ctx_params(drbg, given), 0);
        CU_ASSERT_EQUAL(drbg->generator.config.limits.requests, limits.requests);
        CU_ASSERT_EQUAL(drbg->generator.config.limits.interval, limits.interval);
        CU_ASSERT_TRUE(drbg->generator.config.use_df);
        CU_ASSERT_EQUAL(atomic_load(&drbg->generator.status), EVP_RAND_STATE_READY);
    }
    CU_ASSERT_TRUE(serves(drbg));
    drbg_freectx(drbg);
}

/* As for libcrypto's own: below 0 is "never". */
UNIT_TEST("a negative interval is never")
{
    static const int64_t intervals[] = {-1, INT64_MIN};
    struct drng_drbg *drbg = ready_drbg();
    for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
        int64_t interval = intervals[i];
        const OSSL_PARAM params[] = {OSSL_PARAM_construct_int64(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, &interval),
                                     OSSL_PARAM_construct_end()};
        CU_ASSERT_EQUAL(set_ctx_params(drbg, params), 1);
        CU_ASSERT_EQUAL(drbg->generator.config.limits.interval, 0);
        const unsigned seedings = atomic_load(&drbg->generator.seedings);
        CU_ASSERT_TRUE(serves(drbg) && serves(drbg));
        CU_ASSERT_EQUAL(atomic_load(&drbg->generator.seedings), seedings);
    }
    drbg_freectx(drbg);
}

/* ---- In the middle of another request, as a signal handler comes ---- */

static struct drng_drbg *interrupted;
static unsigned refused; /* of the calls in the middle */

/* Without an error, since raising one allocates memory, and so may the call that this comes into. */
static bool is_refused_silently(int result)
{
    return result == 0 && fake_error_reason == 0;
}

static void call_everything(void)
{
    char cipher[] = "AES-128-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    unsigned char out[16];
    memset(out, 0xaa, sizeof(out));
    fake_error_reason = 0;
    refused += is_refused_silently(drbg_generate(interrupted, out, sizeof(out), 256, 0, NULL, 0));
    refused += bytes_are(out, sizeof(out), 0);
    refused += is_refused_silently(drbg_instantiate(interrupted, 256, 0, NULL, 0, NULL));
    refused += is_refused_silently(reseed(interrupted, 0, NULL, 0, NULL, 0));
    refused += is_refused_silently(uninstantiate(interrupted));
    refused += is_refused_silently(set_ctx_params(interrupted, params));
    unsigned strength = 0;
    OSSL_PARAM wanted[] = {OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength), OSSL_PARAM_construct_end()};
    refused += is_refused_silently(get_ctx_params(interrupted, wanted));
}

static unsigned calls_of_parent;

static void call_everything_each_time(void)
{
    calls_of_parent++;
    call_everything();
}

/* Whatever the parent does meanwhile, the generator whose seed it makes is in use. */
UNIT_TEST("nothing comes between under a foreign parent")
{
    struct drng_drbg *drbg = new_drbg();
    interrupted = drbg;
    refused = 0;
    in_get_seed = call_everything;
    CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(refused, 7);
    in_get_seed = call_everything;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(refused, 14);
    refused = calls_of_parent = 0;
    in_parent = call_everything_each_time;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 1);
    in_parent = NULL;
    CU_ASSERT_TRUE(calls_of_parent >= 4); /* its strength, its seed, how often it was seeded, and the seed back */
    CU_ASSERT_EQUAL(refused, 7 * calls_of_parent);
    CU_ASSERT_TRUE(serves(drbg));
    drbg_freectx(drbg);
}

static void clear_free_with_calls(void *memory, size_t len, const char *file, int line)
{
    call_everything();
    CRYPTO_clear_free(memory, len, file, line);
}

static OSSL_FUNC_core_new_error_fn *real_new_error;

static void new_error_with_calls(const OSSL_CORE_HANDLE *handle)
{
    call_everything();
    real_new_error(handle);
}

/* The call that failed has ended then, and its thread is in the allocator. */
UNIT_TEST("nothing comes between while an error is raised")
{
    unsigned char out[16];
    struct drng_drbg *drbg = drbg_newctx(provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    const uint64_t before = atomic_load(&drng_stats.live->counters.refused_calls);
    interrupted = drbg;
    refused = 0;
    real_new_error = provctx->core.new_error;
    provctx->core.new_error = new_error_with_calls;
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out), 257, 0, NULL, 0), 0);
    provctx->core.new_error = real_new_error;
    CU_ASSERT_EQUAL(refused, 7);
    CU_ASSERT_EQUAL(atomic_load(&drng_stats.live->counters.refused_calls), before + 6);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_STRENGTH_TOO_HIGH);
    CU_ASSERT_TRUE(serves(drbg));
    drbg_freectx(drbg);
}

UNIT_TEST("nothing is raised while the nonce of a foreign parent is freed")
{
    struct drng_drbg *drbg = new_drbg();
    OSSL_FUNC_CRYPTO_clear_free_fn *const real = provctx->core.clear_free;
    interrupted = drbg;
    refused = 0;
    provctx->core.clear_free = clear_free_with_calls;
    CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    provctx->core.clear_free = real;
    CU_ASSERT_EQUAL(refused, 7);
    CU_ASSERT_TRUE(serves(drbg));
    drbg_freectx(drbg);
}

static unsigned served_in_parent;

static void draw_from_another(void)
{
    calls_of_parent++;
    served_in_parent += serves(interrupted);
}

/* It may have a generator of drng's for a parent of its own, in each of its functions. */
UNIT_TEST("a foreign parent may draw from another")
{
    struct drng_drbg *another = drbg_newctx(provctx, NULL, NULL);
    struct drng_drbg *drbg = new_drbg();
    CU_ASSERT_PTR_NOT_NULL_FATAL(another);
    interrupted = another;
    calls_of_parent = served_in_parent = 0;
    in_parent = draw_from_another;
    CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    CU_ASSERT_TRUE(serves(drbg));
    CU_ASSERT_TRUE(calls_of_parent >= 4); /* its strength, its seed, how often it was seeded, and the seed back */
    CU_ASSERT_EQUAL(served_in_parent, calls_of_parent);
    in_parent = NULL;
    drbg_freectx(drbg);
    drbg_freectx(another);
}

static const struct drng_aes *real_aes;
static void *interrupted_source;
static unsigned draws_in_aes;
static unsigned refused_in_aes;

static void ctr_with_a_draw(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                            size_t out_blocks, uint8_t *tail, size_t tail_blocks)
{
    unsigned char bytes[32];
    memset(bytes, 0xaa, sizeof(bytes));
    draws_in_aes++;
    refused_in_aes += is_refused_silently(drbg_generate(interrupted, bytes, 16, 256, 0, NULL, 0)) &&
                      is_refused_silently(seedsrc_generate(interrupted_source, bytes + 16, 16, 0, 0, NULL, 0)) &&
                      bytes_are(bytes, sizeof(bytes), 0);
    real_aes->ctr(key, key_len, v, out, out_blocks, tail, tail_blocks);
}

static void nobody_may_draw_after_the_parent_of(struct drng_drbg *drbg)
{
    unsigned char out[16];
    struct drng_drbg *another = drbg_newctx(provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(another);
    interrupted = another;
    interrupted_source = seedsrc_newctx(provctx, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(seedsrc_instantiate(interrupted_source, 0, 0, NULL, 0, NULL), 1);
    draws_in_aes = refused_in_aes = 0;
    real_aes = drbg->generator.aes;
    struct drng_aes aes = *real_aes;
    aes.ctr = ctr_with_a_draw;
    aes.request = NULL; /* which would do without it */
    aes.short_len = 0;
    drbg->generator.aes = &aes;
    CU_ASSERT_EQUAL(drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    const unsigned in_first_seed = draws_in_aes;
    CU_ASSERT_TRUE(in_first_seed > 0);
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 1);
    const unsigned in_both_seeds = draws_in_aes;
    CU_ASSERT_TRUE(in_both_seeds > in_first_seed);
    CU_ASSERT_EQUAL(drbg_generate(drbg, out, sizeof(out), 256, 1, NULL, 0), 1);
    CU_ASSERT_TRUE(draws_in_aes > in_both_seeds);
    CU_ASSERT_EQUAL(refused_in_aes, draws_in_aes);
    seedsrc_freectx(interrupted_source);
    drbg_freectx(drbg);
    drbg_freectx(another);
}

/* What comes after it is drng's own work again, which no handler may come into. */
UNIT_TEST("when a foreign parent has answered nobody may draw")
{
    nobody_may_draw_after_the_parent_of(new_drbg());
    static int openssls;
    parent_strength = 1024;
    struct drng_drbg *joined = drbg_newctx(provctx, &openssls, parent_functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(joined);
    CU_ASSERT_TRUE(joined->parent.root_joins);
    nobody_may_draw_after_the_parent_of(joined);
}

int main(void)
{
    fake_core_set(NULL, NULL);
    provctx = drng_provctx_new(fake_handle, fake_core);
    if (provctx == NULL) {
        return 1;
    }
    reseed = (OSSL_FUNC_rand_reseed_fn *)function(OSSL_FUNC_RAND_RESEED);
    uninstantiate = (OSSL_FUNC_rand_uninstantiate_fn *)function(OSSL_FUNC_RAND_UNINSTANTIATE);
    get_seed = (OSSL_FUNC_rand_get_seed_fn *)function(OSSL_FUNC_RAND_GET_SEED);
    clear_seed = (OSSL_FUNC_rand_clear_seed_fn *)function(OSSL_FUNC_RAND_CLEAR_SEED);
    set_ctx_params = (OSSL_FUNC_rand_set_ctx_params_fn *)function(OSSL_FUNC_RAND_SET_CTX_PARAMS);
    get_ctx_params = (OSSL_FUNC_rand_get_ctx_params_fn *)function(OSSL_FUNC_RAND_GET_CTX_PARAMS);
    const int result = unit_run("refusals");
    drng_provctx_free(provctx);
    return result;
}
