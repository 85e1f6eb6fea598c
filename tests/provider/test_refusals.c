/*
 * Refusals that no other test demands: of CTR-DRBG, called as libcrypto calls it, under a parent of the test's own.
 * Each has its reason, puts out nothing, and leaves a generator that serves the next request.
 */

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "provider/errors.h"
#include "provider/rand/drbg.h"
#include "provider/rand/instruction_rand.h"
#include "provider/rand/seed_src.h"
#include "tests/provider/fake_core.h"
#include "tests/unit/bytes.h"
#include "tests/unit/unit.h"

static struct drng_provctx *provctx;

/* ---- A parent that does as it is told ---- */

static unsigned parent_strength;
static bool parent_locks;
static size_t parent_seed_len;    /* 0: as long as asked for */
static unsigned parent_cleared;   /* seeds given back */
static void (*in_get_seed)(void); /* NULL for nothing */

static int parent_enable_locking(void *parent)
{
    (void)parent;
    return parent_locks;
}

static int parent_get_ctx_params(void *parent, OSSL_PARAM params[])
{
    (void)parent;
    OSSL_PARAM *p = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STRENGTH);
    return p == NULL || OSSL_PARAM_set_uint(p, parent_strength);
}

static size_t parent_get_seed(void *parent, unsigned char **seed, int entropy, size_t min_len, size_t max_len,
                              int prediction_resistance, const unsigned char *additional, size_t additional_len)
{
    static unsigned char bytes[64];
    (void)parent;
    (void)entropy;
    (void)max_len;
    (void)prediction_resistance;
    (void)additional;
    (void)additional_len;
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
    (void)parent;
    (void)len;
    parent_cleared += seed != NULL;
}

static bool parent_can_be_locked = true;
static unsigned parent_unlocked;

static int parent_lock(void *parent)
{
    (void)parent;
    return parent_can_be_locked;
}

static void parent_unlock(void *parent)
{
    (void)parent;
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

static struct drng_drbg *new_drbg(void)
{
    static int parent;
    parent_strength = 256;
    parent_locks = true;
    struct drng_drbg *drbg = drng_drbg_newctx(provctx, &parent, parent_functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    fake_error_reason = 0;
    return drbg;
}

static struct drng_drbg *ready_drbg(void)
{
    struct drng_drbg *drbg = new_drbg();
    CU_ASSERT_EQUAL_FATAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    return drbg;
}

static bool serves(struct drng_drbg *drbg)
{
    unsigned char out[16] = {0};
    return drng_drbg_generate(drbg, out, sizeof(out), 256, 0, NULL, 0) == 1 && !bytes_are(out, sizeof(out), 0);
}

/* ---- Parents ---- */

static void a_parent_weaker_than_the_generator_does_not_seed_it(void)
{
    static const unsigned strengths[] = {0, 128, 255};
    for (size_t i = 0; i < sizeof(strengths) / sizeof(*strengths); i++) {
        struct drng_drbg *drbg = new_drbg();
        parent_strength = strengths[i];
        CU_ASSERT_EQUAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 0);
        CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
        CU_ASSERT_EQUAL(drbg->state, EVP_RAND_STATE_ERROR);
        parent_strength = 256;
        CU_ASSERT_TRUE(serves(drbg));
        drng_drbg_freectx(drbg);
    }
}

/* Drng's own are asked past get_seed, and are no stronger for it. */
static void a_weaker_generator_of_the_same_kind_does_not_seed_it(void)
{
    static char cipher[] = "AES-128-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    struct drng_drbg *weak = drng_drbg_newctx(provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(weak);
    CU_ASSERT_EQUAL_FATAL(drng_drbg_instantiate(weak, 128, 0, NULL, 0, params), 1);
    struct drng_drbg *drbg = drng_drbg_newctx(provctx, weak, drng_drbg_functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_EQUAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
    CU_ASSERT_EQUAL(drng_drbg_seedings(weak), 2); /* its own seed, and none for the child */
    drng_drbg_freectx(drbg);
    drng_drbg_freectx(weak);
}

/* Once it is seeded, too. */
static void a_parent_that_has_become_weaker_does_not_reseed_it(void)
{
    unsigned char out[16];
    struct drng_drbg *drbg = ready_drbg();
    parent_strength = 128;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, sizeof(out), 256, 0, NULL, 0), 0);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    drng_drbg_freectx(drbg);
}

/* What it gave goes back to it all the same. */
static void a_seed_that_is_too_short_or_too_long_is_not_taken(void)
{
    int use_df = 0;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    /* Without a derivation function it is seedlen and nothing else. */
    static const size_t lengths[] = {1, DRNG_DRBG_MAX_SEEDLEN - 1, DRNG_DRBG_MAX_SEEDLEN + 1};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct drng_drbg *drbg = new_drbg();
        parent_seed_len = lengths[i];
        parent_cleared = 0;
        CU_ASSERT_EQUAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, params), 0);
        CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_GAVE_NO_SEED);
        CU_ASSERT_EQUAL(parent_cleared, 1);
        parent_seed_len = 0;
        CU_ASSERT_TRUE(serves(drbg));
        CU_ASSERT_EQUAL(parent_cleared, 2);
        drng_drbg_freectx(drbg);
    }
}

static void a_parent_that_cannot_be_locked_is_not_shared(void)
{
    struct drng_drbg *drbg = new_drbg();
    parent_locks = false;
    CU_ASSERT_EQUAL(drng_drbg_enable_locking(drbg), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_LOCK);
    CU_ASSERT_FALSE(drbg->locking);
    parent_locks = true;
    CU_ASSERT_EQUAL(drng_drbg_enable_locking(drbg), 1);
    drng_drbg_freectx(drbg);
}

/* What is not locked is not asked, and not unlocked. */
static void a_parent_whose_lock_fails_is_not_asked(void)
{
    struct drng_drbg *drbg = ready_drbg();
    const unsigned unlocked = parent_unlocked;
    const unsigned cleared = parent_cleared;
    parent_can_be_locked = false;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_TOO_WEAK);
    CU_ASSERT_EQUAL(parent_unlocked, unlocked);
    CU_ASSERT_EQUAL(parent_cleared, cleared);
    unsigned char *seed = NULL;
    CU_ASSERT_EQUAL(drng_parent_get_seed(&drbg->parent, &seed, 256, 32, 64, false, drbg), 0);
    CU_ASSERT_PTR_NULL(seed);
    CU_ASSERT_EQUAL(parent_unlocked, unlocked);
    parent_can_be_locked = true;
    CU_ASSERT_TRUE(serves(drbg));
    CU_ASSERT_TRUE(parent_unlocked > unlocked);
    drng_drbg_freectx(drbg);
}

static size_t no_nonce(void *parent, unsigned char *out, unsigned strength, size_t min_len, size_t max_len)
{
    (void)parent;
    (void)strength;
    (void)max_len;
    return out == NULL ? min_len : 0;
}

/* It is offered, with a length, and then it does not come. */
static void a_nonce_that_does_not_come_is_missed(void)
{
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))parent_get_ctx_params},
        {OSSL_FUNC_RAND_GET_SEED, (void (*)(void))parent_get_seed},
        {OSSL_FUNC_RAND_NONCE, (void (*)(void))no_nonce},
        {0, NULL},
    };
    int parent = 0;
    struct drng_drbg *drbg = drng_drbg_newctx(provctx, &parent, functions);
    CU_ASSERT_PTR_NOT_NULL_FATAL(drbg);
    CU_ASSERT_EQUAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_PARENT_GAVE_NO_SEED);
    CU_ASSERT_EQUAL(drbg->state, EVP_RAND_STATE_ERROR);
    drng_drbg_freectx(drbg);
}

/* ---- The seed source ---- */

static void (*function_of(const OSSL_DISPATCH *functions, int id))(void)
{
    while (functions->function_id != id && functions->function_id != 0) {
        functions++;
    }
    return functions->function;
}

static void a_seed_source_without_a_source_fails(void)
{
    OSSL_FUNC_rand_newctx_fn *new =
        (OSSL_FUNC_rand_newctx_fn *)function_of(drng_seed_src_functions, OSSL_FUNC_RAND_NEWCTX);
    OSSL_FUNC_rand_generate_fn *generate =
        (OSSL_FUNC_rand_generate_fn *)function_of(drng_seed_src_functions, OSSL_FUNC_RAND_GENERATE);
    const struct drng_seed_policy policy = provctx->policy;
    struct drng_instruction_rand *source = new (provctx, NULL, NULL);
    unsigned char out[48];
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    CU_ASSERT_EQUAL(drng_instruction_rand_instantiate(source, 0, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(generate(source, out, sizeof(out), 0, 0, NULL, 0), 1);
    provctx->policy.instructions[DRNG_RDSEED] = NULL;
    provctx->policy.instructions[DRNG_RDRAND] = NULL;
    provctx->policy.fallback = NULL;
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(generate(source, out, sizeof(out), 0, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_NO_SEED_SOURCE);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    provctx->policy = policy;
    CU_ASSERT_EQUAL(generate(source, out, sizeof(out), 0, 0, NULL, 0), 1);
    drng_instruction_rand_freectx(source);
}

/* A caller that asks for a number as a text is told so. */
static void a_parameter_that_cannot_be_given_is_an_error(void)
{
    static const char *const names[] = {OSSL_RAND_PARAM_STATE, OSSL_RAND_PARAM_STRENGTH, OSSL_RAND_PARAM_MAX_REQUEST};
    OSSL_FUNC_rand_newctx_fn *new =
        (OSSL_FUNC_rand_newctx_fn *)function_of(drng_seed_src_functions, OSSL_FUNC_RAND_NEWCTX);
    OSSL_FUNC_rand_get_ctx_params_fn *get =
        (OSSL_FUNC_rand_get_ctx_params_fn *)function_of(drng_seed_src_functions, OSSL_FUNC_RAND_GET_CTX_PARAMS);
    struct drng_instruction_rand *source = new (provctx, NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char text[16] = "";
        OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(names[i], text, sizeof(text)),
                               OSSL_PARAM_construct_end()};
        CU_ASSERT_EQUAL(get(source, params), 0);
    }
    CU_ASSERT_EQUAL(get(source, NULL), 1);
    drng_instruction_rand_freectx(source);
}

/* ---- Lengths ---- */

static void a_request_that_is_too_long_puts_out_nothing(void)
{
    static unsigned char out[DRNG_DRBG_MAX_REQUEST + 1];
    struct drng_drbg *drbg = ready_drbg();
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, sizeof(out), 256, 0, NULL, 0), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_REQUEST_TOO_LONG);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(drbg->state, EVP_RAND_STATE_READY);
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, sizeof(out) - 1, 256, 0, NULL, 0), 1);
    drng_drbg_freectx(drbg);
}

/* Without a derivation function they are as long as seedlen at the most. */
static void an_additional_input_that_is_too_long_is_refused(void)
{
    static const unsigned char input[DRNG_DRBG_MAX_SEEDLEN + 1];
    unsigned char out[16];
    int use_df = 0;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df), OSSL_PARAM_construct_end()};
    struct drng_drbg *drbg = new_drbg();
    CU_ASSERT_EQUAL_FATAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, params), 1);
    memset(out, 0xaa, sizeof(out));
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, sizeof(out), 256, 0, input, sizeof(input)), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_INPUT_TOO_LONG);
    CU_ASSERT_TRUE(bytes_are(out, sizeof(out), 0));
    CU_ASSERT_EQUAL(drbg->state, EVP_RAND_STATE_READY);
    fake_error_reason = 0;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, input, sizeof(input)), 0);
    CU_ASSERT_EQUAL(fake_error_reason, DRNG_R_INPUT_TOO_LONG);
    CU_ASSERT_EQUAL(drbg->state, EVP_RAND_STATE_READY);
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, sizeof(out), 256, 0, input, sizeof(input) - 1), 1);
    drng_drbg_freectx(drbg);
}

static void a_seed_of_an_impossible_length_is_refused(void)
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
    drng_drbg_freectx(drbg);
}

/* ---- Parameters ---- */

static void a_parameter_of_the_wrong_type_changes_nothing(void)
{
    static char text[] = "1";
    static const char *const names[] = {OSSL_DRBG_PARAM_USE_DF, OSSL_DRBG_PARAM_RESEED_REQUESTS,
                                        OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL};
    struct drng_drbg *drbg = ready_drbg();
    const struct drng_reseed_limits limits = drbg->limits;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        unsigned requests = 77;
        const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
                                     OSSL_PARAM_construct_utf8_string(names[i], text, 0), OSSL_PARAM_construct_end()};
        /* The first parameter is good: of the two all or none is taken. */
        const OSSL_PARAM *given = i == 1 ? params + 1 : params;
        CU_ASSERT_EQUAL(set_ctx_params(drbg, given), 0);
        CU_ASSERT_EQUAL(drbg->limits.requests, limits.requests);
        CU_ASSERT_EQUAL(drbg->limits.interval, limits.interval);
        CU_ASSERT_TRUE(drbg->use_df);
        CU_ASSERT_EQUAL(drbg->state, EVP_RAND_STATE_READY);
    }
    CU_ASSERT_TRUE(serves(drbg));
    drng_drbg_freectx(drbg);
}

/* As for libcrypto's own: below 0 is "never". */
static void a_negative_interval_is_never(void)
{
    static const int64_t intervals[] = {-1, INT64_MIN};
    struct drng_drbg *drbg = ready_drbg();
    for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
        int64_t interval = intervals[i];
        const OSSL_PARAM params[] = {OSSL_PARAM_construct_int64(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, &interval),
                                     OSSL_PARAM_construct_end()};
        CU_ASSERT_EQUAL(set_ctx_params(drbg, params), 1);
        CU_ASSERT_EQUAL(drbg->limits.interval, 0);
        const unsigned seedings = drng_drbg_seedings(drbg);
        CU_ASSERT_TRUE(serves(drbg) && serves(drbg));
        CU_ASSERT_EQUAL(drng_drbg_seedings(drbg), seedings);
    }
    drng_drbg_freectx(drbg);
}

/* ---- In the middle of another request, as a signal handler comes ---- */

static struct drng_drbg *interrupted;
static unsigned refused; /* of the calls in the middle */

static bool is_busy(int result)
{
    const bool busy = result == 0 && fake_error_reason == DRNG_R_BUSY;
    fake_error_reason = 0;
    return busy;
}

static void call_everything(void)
{
    char cipher[] = "AES-128-CTR";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
                                 OSSL_PARAM_construct_end()};
    unsigned char out[16];
    memset(out, 0xaa, sizeof(out));
    refused += is_busy(drng_drbg_generate(interrupted, out, sizeof(out), 256, 0, NULL, 0));
    refused += bytes_are(out, sizeof(out), 0);
    refused += is_busy(drng_drbg_instantiate(interrupted, 256, 0, NULL, 0, NULL));
    refused += is_busy(reseed(interrupted, 0, NULL, 0, NULL, 0));
    refused += is_busy(uninstantiate(interrupted));
    refused += is_busy(set_ctx_params(interrupted, params));
}

/* The seeds of a generator under a foreign parent are the parent's: there is nothing to serve a request apart from. */
static void nothing_comes_between_under_a_foreign_parent(void)
{
    struct drng_drbg *drbg = new_drbg();
    CU_ASSERT_FALSE(drbg->own_chain);
    interrupted = drbg;
    refused = 0;
    in_get_seed = call_everything;
    CU_ASSERT_EQUAL(drng_drbg_instantiate(drbg, 256, 0, NULL, 0, NULL), 1);
    CU_ASSERT_EQUAL(refused, 6);
    in_get_seed = call_everything;
    CU_ASSERT_EQUAL(reseed(drbg, 0, NULL, 0, NULL, 0), 1);
    CU_ASSERT_EQUAL(refused, 12);
    CU_ASSERT_TRUE(serves(drbg));
    drng_drbg_freectx(drbg);
}

static unsigned char between[2][32];
static unsigned drawn;

static void draw_twice(void)
{
    for (size_t i = 0; i < 2; i++) {
        drawn += (unsigned)drng_drbg_generate(interrupted, between[i], sizeof(between[i]), 256, 0, NULL, 0);
    }
}

/* In drng's own chain it is served, by a generator of its own: nothing of the interrupted request is touched. */
static void a_draw_in_between_is_served_apart(void)
{
    unsigned char out[32] = {0};
    struct drng_drbg *drbg = ready_drbg();
    drbg->own_chain = true;
    interrupted = drbg;
    drawn = 0;
    in_get_seed = draw_twice;
    CU_ASSERT_EQUAL(drng_drbg_generate(drbg, out, sizeof(out), 256, 1, NULL, 0), 1);
    CU_ASSERT_EQUAL(drawn, 2);
    CU_ASSERT_NOT_EQUAL(memcmp(between[0], between[1], sizeof(out)), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(between[0], out, sizeof(out)), 0);
    CU_ASSERT_FALSE(bytes_are(between[0], sizeof(between[0]), 0) || bytes_are(between[1], sizeof(between[1]), 0));
    CU_ASSERT_TRUE(serves(drbg));
    drng_drbg_freectx(drbg);
}

static const struct unit_test tests[] = {
    {"a parent weaker than the generator does not seed it", a_parent_weaker_than_the_generator_does_not_seed_it},
    {"a weaker generator of the same kind does not seed it", a_weaker_generator_of_the_same_kind_does_not_seed_it},
    {"a parent that has become weaker does not reseed it", a_parent_that_has_become_weaker_does_not_reseed_it},
    {"a seed that is too short or too long is not taken", a_seed_that_is_too_short_or_too_long_is_not_taken},
    {"a parent that cannot be locked is not shared", a_parent_that_cannot_be_locked_is_not_shared},
    {"a parent whose lock fails is not asked", a_parent_whose_lock_fails_is_not_asked},
    {"a nonce that does not come is missed", a_nonce_that_does_not_come_is_missed},
    {"a seed source without a source fails", a_seed_source_without_a_source_fails},
    {"a parameter that cannot be given is an error", a_parameter_that_cannot_be_given_is_an_error},
    {"a request that is too long puts out nothing", a_request_that_is_too_long_puts_out_nothing},
    {"an additional input that is too long is refused", an_additional_input_that_is_too_long_is_refused},
    {"a seed of an impossible length is refused", a_seed_of_an_impossible_length_is_refused},
    {"a parameter of the wrong type changes nothing", a_parameter_of_the_wrong_type_changes_nothing},
    {"a negative interval is never", a_negative_interval_is_never},
    {"nothing comes between under a foreign parent", nothing_comes_between_under_a_foreign_parent},
    {"a draw in between is served apart", a_draw_in_between_is_served_apart},
};

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
    const int result = unit_run("refusals", tests, sizeof(tests) / sizeof(*tests));
    drng_provctx_free(provctx);
    return result;
}
