/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of EVP_RAND calls on generators of all kinds, chained at will, on a CPU that fails as the input says:
 * nothing is served unseeded, after a failed self-test, or from a source that may not serve; what fails puts out
 * nothing.
 */

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "provider/provctx.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/machine.h"
#include "tests/provider/evp.h"
#include "tests/scripted/cpu.h"

enum { SLOTS = 6, MAX_STEPS = 48, MAX_CHUNK = 64 /* the smallest max_request, DRNG-SEED's */ };

struct setting {
    const char *keys;
    bool may_fall_back;
    bool may_use_rdseed;
};

static const struct setting settings[] = {
    {"", true, true},
    {"fallback = no\nrequest_mixing = yes\n", false, true},
    {"source = rdrand\nfallback = no\nos_mixing = no\n", false, false},
    {"source = rdseed\nconditioner = hmac-sha256\nrequest_mixing = no\n", true, true},
    {"request_mixing = no\n", true, true},
};

enum kind { CTR_DRBG, DRNG_SEED, RDRAND, KINDS };

static const char *const names[KINDS] = {"CTR-DRBG", "DRNG-SEED", "RDRAND"};

struct slot {
    EVP_RAND_CTX *rand;
    enum kind kind;
    bool has_parent;
};

enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

/* Made once: a library context takes longer than all calls of an input. */
static OSSL_LIB_CTX *contexts[SETTINGS];

static const struct setting *setting;
static OSSL_LIB_CTX *libctx;
static struct slot slots[SLOTS];

/* ---- Steps ---- */

static void make(struct slot *slot, struct fuzz_input *input)
{
    const enum kind kind = (enum kind)(fuzz_byte(input) % KINDS);
    const uint8_t choice = fuzz_byte(input);
    struct slot *parent = &slots[choice % SLOTS];
    const bool has_parent = choice < 0x80 && parent != slot && parent->rand != NULL;
    EVP_RAND_CTX_free(slot->rand);
    *slot = (struct slot){evp_rand(libctx, names[kind], "provider=drng", has_parent ? parent->rand : NULL), kind,
                          has_parent && kind == CTR_DRBG};
    /* A seed source has no parent; everything else can be made. */
    FUZZ_CHECK((slot->rand == NULL) == (kind == DRNG_SEED && has_parent));
}

static size_t params_of(struct fuzz_input *input, OSSL_PARAM params[])
{
    static const char *const ciphers[] = {"AES-128-CTR", "aes-192-ctr", "AES-256-CTR", "AES-256-CBC", ""};
    static int use_df;
    static unsigned requests;
    static int64_t interval;
    size_t count = 0;
    const uint8_t which = fuzz_byte(input);
    if (which & 1) {
        params[count++] =
            OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, (char *)ciphers[fuzz_byte(input) % 5], 0);
    }
    if (which & 2) {
        use_df = fuzz_byte(input) % 2;
        params[count++] = OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df);
    }
    if (which & 4) {
        requests = fuzz_byte(input) % 4;
        params[count++] = OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests);
    }
    if (which & 8) {
        interval = (int64_t)fuzz_word(input);
        params[count++] = OSSL_PARAM_construct_int64(OSSL_DRBG_PARAM_RESEED_TIME_INTERVAL, &interval);
    }
    if (which & 16) { /* of the wrong type */
        params[count++] = OSSL_PARAM_construct_int64(OSSL_DRBG_PARAM_CIPHER, &interval);
    }
    params[count] = OSSL_PARAM_construct_end();
    return count;
}

static void instantiate(struct slot *slot, struct fuzz_input *input)
{
    OSSL_PARAM params[8];
    (void)params_of(input, params);
    const unsigned strength = 64U * (fuzz_byte(input) % 8);
    const size_t len = fuzz_length(input, 70000);
    unsigned char *personalization = fuzz_buffer(input, len);
    const int done = EVP_RAND_instantiate(slot->rand, strength, fuzz_byte(input) % 2, personalization, len, params);
    FUZZ_CHECK(done != 1 || EVP_RAND_get_state(slot->rand) == EVP_RAND_STATE_READY);
    FUZZ_CHECK(done != 1 || slot->kind != CTR_DRBG || (drng_process_healthy() && machine_seeds() > 0));
    /* A seed source that did not instantiate would be dropped without a word. */
    FUZZ_CHECK(done == 1 || slot->kind == CTR_DRBG);
    free(personalization);
}

/* An output that is longer than the largest request comes in pieces, and libcrypto leaves those before a failure. */
static bool is_erased(const struct slot *slot, const unsigned char *out, size_t len)
{
    const size_t max_request = slot->kind == CTR_DRBG ? 65536 : slot->kind == RDRAND ? 4096 : MAX_CHUNK;
    return len > max_request || fuzz_is_filled(out, len, 0);
}

static void check_served(const struct slot *slot, const struct machine_mark *mark, int state_before,
                         const unsigned char *out, size_t len)
{
    FUZZ_CHECK(drng_process_healthy());
    FUZZ_CHECK(EVP_RAND_get_state(slot->rand) == EVP_RAND_STATE_READY);
    FUZZ_CHECK(slot->kind == RDRAND || machine_seeds() > 0);
    if (slot->kind == CTR_DRBG && state_before != EVP_RAND_STATE_READY && !slot->has_parent) {
        FUZZ_CHECK(machine_seeds() > mark->seeds);
    }
    if (slot->kind == DRNG_SEED && len > 0) {
        FUZZ_CHECK(machine_seeds() - mark->seeds == (len + MAX_CHUNK - 1) / MAX_CHUNK);
    }
    if (len >= 16) {
        FUZZ_CHECK(!fuzz_is_filled(out, len, 0) && !fuzz_is_filled(out, len, FUZZ_PREFILL));
    }
}

static void generate(struct slot *slot, struct fuzz_input *input)
{
    const struct machine_mark mark = machine_mark();
    const int state_before = EVP_RAND_get_state(slot->rand);
    const size_t len = fuzz_length(input, slot->kind == CTR_DRBG ? 200000 : 512);
    const size_t additional_len = fuzz_length(input, 70000);
    unsigned char *additional = fuzz_buffer(input, additional_len);
    unsigned char *out = fuzz_output(len);
    const unsigned strength = 64U * (fuzz_byte(input) % 6);
    const int done =
        EVP_RAND_generate(slot->rand, out, len, strength, fuzz_byte(input) % 4 == 0, additional, additional_len);
    if (done == 1 && len > 0) {
        check_served(slot, &mark, state_before, out, len);
    } else if (done != 1) {
        FUZZ_CHECK(is_erased(slot, out, len));
        FUZZ_CHECK(ERR_peek_error() != 0);
    }
    free(additional);
    free(out);
}

static void reseed(struct slot *slot, struct fuzz_input *input)
{
    const struct machine_mark mark = machine_mark();
    const size_t entropy_len = fuzz_length(input, 70000);
    const size_t additional_len = fuzz_length(input, 512);
    unsigned char *entropy = fuzz_buffer(input, entropy_len);
    unsigned char *additional = fuzz_buffer(input, additional_len);
    const int done =
        EVP_RAND_reseed(slot->rand, fuzz_byte(input) % 2, entropy, entropy_len, additional, additional_len);
    FUZZ_CHECK(done != 1 || drng_process_healthy());
    if (done == 1 && slot->kind == CTR_DRBG && !slot->has_parent) {
        FUZZ_CHECK(machine_seeds() > mark.seeds);
    }
    free(entropy);
    free(additional);
}

static void get_params(const struct slot *slot, struct fuzz_input *input)
{
    char cipher[32];
    unsigned strength = 0;
    unsigned char small = 0;
    size_t max_request = 0;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_uint(OSSL_RAND_PARAM_STRENGTH, &strength),
        OSSL_PARAM_construct_size_t(OSSL_RAND_PARAM_MAX_REQUEST, &max_request),
        OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, fuzz_byte(input) % sizeof(cipher)),
        OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_COUNTER, (unsigned *)(void *)&small),
        OSSL_PARAM_construct_end(),
    };
    params[3].data_size = sizeof(small);
    const int done = EVP_RAND_CTX_get_params(slot->rand, params);
    FUZZ_CHECK(strength > 0);
    FUZZ_CHECK(done != 1 || max_request > 0);
}

static void uninstantiate(const struct slot *slot)
{
    FUZZ_CHECK(EVP_RAND_uninstantiate(slot->rand) == 1);
    FUZZ_CHECK(EVP_RAND_get_state(slot->rand) == EVP_RAND_STATE_UNINITIALISED);
    FUZZ_CHECK(EVP_RAND_verify_zeroization(slot->rand) == 1);
}

static void set_params(struct slot *slot, struct fuzz_input *input)
{
    OSSL_PARAM params[8];
    (void)params_of(input, params);
    (void)EVP_RAND_CTX_set_params(slot->rand, params);
}

static void step(struct fuzz_input *input)
{
    const uint8_t choice = fuzz_byte(input);
    struct slot *slot = &slots[choice / 16 % SLOTS];
    if (slot->rand == NULL) {
        make(slot, input);
        return;
    }
    switch (choice % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        generate(slot, input);
        break;
    case 5:
    case 6:
        instantiate(slot, input);
        break;
    case 7:
        reseed(slot, input);
        break;
    case 8:
        set_params(slot, input);
        break;
    case 9:
        get_params(slot, input);
        break;
    case 10:
        uninstantiate(slot);
        break;
    case 11:
        (void)EVP_RAND_enable_locking(slot->rand);
        break;
    case 12:
        EVP_RAND_CTX_free(slot->rand);
        *slot = (struct slot){0};
        break;
    case 13:
        make(slot, input);
        break;
    case 14:
        machine_change(input);
        break;
    default:
        /* A self-test that failed: for good, as far as this input goes. */
        if (fuzz_byte(input) % 4 == 0) {
            atomic_store(&drng_failed_algorithm, "AES");
        }
        break;
    }
}

/* What the provider keeps from input to input: the reader that seeds generators without a parent. */
static void forget_reader(void)
{
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(libctx, "drng");
    FUZZ_CHECK(provider != NULL);
    struct drng_provctx *provctx = OSSL_PROVIDER_get0_provider_ctx(provider);
    memset(provctx->root.slot, 0, sizeof(*provctx->root.slot));
    OSSL_PROVIDER_unload(provider);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input input = {data, len};
    const unsigned which = fuzz_byte(&input) % SETTINGS;
    setting = &settings[which];
    libctx = contexts[which];
    machine_start(&input);
    forget_reader();
    for (unsigned i = 0; i < MAX_STEPS && input.len > 0; i++) {
        const struct machine_mark mark = machine_mark();
        step(&input);
        machine_check(&mark);
        FUZZ_CHECK(setting->may_fall_back || drng_stats.live->counters.seeds_fallback == 0);
        FUZZ_CHECK(setting->may_use_rdseed || scripted_rdseed.executions == 0);
        ERR_clear_error();
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        EVP_RAND_CTX_free(slots[i].rand);
        slots[i] = (struct slot){0};
    }
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    evp_be_quiet();
    machine_open();
    for (unsigned i = 0; i < SETTINGS; i++) {
        contexts[i] = evp_context(settings[i].keys);
        FUZZ_CHECK(contexts[i] != NULL);
    }
    return 0;
}
