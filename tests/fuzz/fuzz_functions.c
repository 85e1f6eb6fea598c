/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the provider hands to libcrypto, called as libcrypto and its generators call them, but with any
 * lengths, and between the calls forks: on a CPU that fails as the input says, every failure leaves erased output, a
 * seed is as long as it should be or is not there, and nothing is served from a state that a fork has wiped.
 */

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "mixing/state/secmem.h"
#include "provider/rand/drbg.h"
#include "provider/rand/instruction_rand.h"
#include "provider/rand/random_bytes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/machine.h"
#include "tests/provider/fake_core.h"
#include "tests/scripted/cpu.h"

enum { SLOTS = 6, MAX_STEPS = 64 };

/* ---- The provider's functions ---- */

struct functions {
    const OSSL_DISPATCH *table;
    OSSL_FUNC_rand_newctx_fn *newctx;
    OSSL_FUNC_rand_freectx_fn *freectx;
    OSSL_FUNC_rand_instantiate_fn *instantiate;
    OSSL_FUNC_rand_uninstantiate_fn *uninstantiate;
    OSSL_FUNC_rand_generate_fn *generate;
    OSSL_FUNC_rand_reseed_fn *reseed;
    OSSL_FUNC_rand_enable_locking_fn *enable_locking;
    OSSL_FUNC_rand_get_ctx_params_fn *get_ctx_params;
    OSSL_FUNC_rand_verify_zeroization_fn *verify_zeroization;
    OSSL_FUNC_rand_get_seed_fn *get_seed;
    OSSL_FUNC_rand_clear_seed_fn *clear_seed;
};

static void (*find(const OSSL_DISPATCH *table, int id))(void)
{
    while (table->function_id != id) {
        FUZZ_CHECK(table->function_id != 0);
        table++;
    }
    return table->function;
}

static struct functions functions_of(const OSSL_DISPATCH *table)
{
    return (struct functions){
        .table = table,
        .newctx = (OSSL_FUNC_rand_newctx_fn *)find(table, OSSL_FUNC_RAND_NEWCTX),
        .freectx = (OSSL_FUNC_rand_freectx_fn *)find(table, OSSL_FUNC_RAND_FREECTX),
        .instantiate = (OSSL_FUNC_rand_instantiate_fn *)find(table, OSSL_FUNC_RAND_INSTANTIATE),
        .uninstantiate = (OSSL_FUNC_rand_uninstantiate_fn *)find(table, OSSL_FUNC_RAND_UNINSTANTIATE),
        .generate = (OSSL_FUNC_rand_generate_fn *)find(table, OSSL_FUNC_RAND_GENERATE),
        .reseed = (OSSL_FUNC_rand_reseed_fn *)find(table, OSSL_FUNC_RAND_RESEED),
        .enable_locking = (OSSL_FUNC_rand_enable_locking_fn *)find(table, OSSL_FUNC_RAND_ENABLE_LOCKING),
        .get_ctx_params = (OSSL_FUNC_rand_get_ctx_params_fn *)find(table, OSSL_FUNC_RAND_GET_CTX_PARAMS),
        .verify_zeroization = (OSSL_FUNC_rand_verify_zeroization_fn *)find(table, OSSL_FUNC_RAND_VERIFY_ZEROIZATION),
        .get_seed = (OSSL_FUNC_rand_get_seed_fn *)find(table, OSSL_FUNC_RAND_GET_SEED),
        .clear_seed = (OSSL_FUNC_rand_clear_seed_fn *)find(table, OSSL_FUNC_RAND_CLEAR_SEED),
    };
}

/* ---- Generators ---- */

struct slot {
    const struct functions *functions;
    void *ctx;
    struct slot *parent;
    unsigned children;
};

enum { CTR_DRBG, DRNG_SEED, RDRAND, KINDS };

static struct functions kinds[KINDS];
static struct slot slots[SLOTS];
static struct drng_provctx *provctx;

static bool is_drbg(const struct slot *slot)
{
    return slot->functions == &kinds[CTR_DRBG];
}

static int state_of(const struct slot *slot)
{
    int state = -1;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_int(OSSL_RAND_PARAM_STATE, &state), OSSL_PARAM_construct_end()};
    FUZZ_CHECK(slot->functions->get_ctx_params(slot->ctx, params) == 1);
    return state;
}

static void drop(struct slot *slot)
{
    if (slot->parent != NULL) {
        slot->parent->children--;
    }
    slot->functions->freectx(slot->ctx);
    *slot = (struct slot){0};
}

static void make(struct slot *slot, struct fuzz_input *input)
{
    const struct functions *functions = &kinds[fuzz_byte(input) % KINDS];
    const uint8_t choice = fuzz_byte(input);
    struct slot *parent = &slots[choice % SLOTS];
    if (choice >= 0x80 || parent == slot || parent->ctx == NULL || functions != &kinds[CTR_DRBG]) {
        parent = NULL;
    }
    slot->ctx = functions->newctx(provctx, parent != NULL ? parent->ctx : NULL,
                                  parent != NULL ? parent->functions->table : NULL);
    FUZZ_CHECK(slot->ctx != NULL);
    slot->functions = functions;
    slot->parent = parent;
    if (parent != NULL) {
        parent->children++;
    }
}

/* ---- Steps ---- */

static void check_output(bool done, const unsigned char *out, size_t len)
{
    FUZZ_CHECK(!done || (drng_process_healthy() || len == 0));
    FUZZ_CHECK(done || fuzz_is_filled(out, len, 0));
    FUZZ_CHECK(!done || len < 16 || (!fuzz_is_filled(out, len, 0) && !fuzz_is_filled(out, len, FUZZ_PREFILL)));
}

/* It has a seed, and that is of an ancestor of this process. */
static bool wiped(const struct slot *slot)
{
    const struct drng_drbg *drbg = slot->ctx;
    return is_drbg(slot) && atomic_load(&drbg->generator.status) == DRNG_GENERATOR_READY &&
           drng_fork_generation() != drbg->generator.generation;
}

static void generate(const struct slot *slot, struct fuzz_input *input)
{
    const bool is_child = wiped(slot);
    const uint64_t fork_reseeds = drng_stats.live->counters.fork_reseeds;
    const size_t len = fuzz_length(input, is_drbg(slot) ? 200000 : 4096);
    const size_t additional_len = fuzz_length(input, 70000);
    unsigned char *additional = fuzz_buffer(input, additional_len);
    unsigned char *out = fuzz_output(len);
    const unsigned strength = 64U * (fuzz_byte(input) % 6);
    const bool resistance = fuzz_byte(input) % 4 == 0;
    const bool done =
        slot->functions->generate(slot->ctx, out, len, strength, resistance, additional, additional_len) == 1;
    check_output(done, out, len);
    FUZZ_CHECK(!done || state_of(slot) == EVP_RAND_STATE_READY);
    FUZZ_CHECK(!done || !is_drbg(slot) || (machine_seeds() > 0 && len <= DRNG_DRBG_MAX_REQUEST));
    FUZZ_CHECK(!done || !is_child || drng_stats.live->counters.fork_reseeds > fork_reseeds);
    free(additional);
    free(out);
}

/* What a child asks its parent for, and more and less than that. */
static void get_seed(const struct slot *slot, struct fuzz_input *input)
{
    static const int entropies[] = {256, 384, 128, 0, 1, 1024, 8 * 65536, 8 * 65537, -1, INT32_MAX};
    const int entropy = entropies[fuzz_byte(input) % 10];
    const size_t min_len = fuzz_length(input, is_drbg(slot) ? 70000 : 512);
    /* INT32_MAX bits are 256 MiB, for which there is never room here. */
    const size_t max_len = entropy == INT32_MAX || fuzz_byte(input) % 4 == 0 ? fuzz_length(input, 70000) : 1 << 20;
    unsigned char *seed = NULL;
    const size_t len =
        slot->functions->get_seed(slot->ctx, &seed, entropy, min_len, max_len, fuzz_byte(input) % 4 == 0, NULL, 0);
    if (len == 0) {
        FUZZ_CHECK(seed == NULL);
        return;
    }
    FUZZ_CHECK(drng_process_healthy() && machine_seeds() > 0);
    FUZZ_CHECK(len >= min_len && len <= max_len && 8 * len >= (entropy > 0 ? (size_t)entropy : 0));
    check_output(true, seed, len);
    slot->functions->clear_seed(slot->ctx, seed, len);
}

static void instantiate(const struct slot *slot, struct fuzz_input *input)
{
    char cipher[] = "AES-128-CTR";
    int use_df = fuzz_byte(input) % 2;
    unsigned requests = fuzz_byte(input) % 4;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_DRBG_PARAM_CIPHER, cipher, 0),
        OSSL_PARAM_construct_int(OSSL_DRBG_PARAM_USE_DF, &use_df),
        OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
        OSSL_PARAM_construct_end(),
    };
    const size_t len = fuzz_length(input, 70000);
    unsigned char *personalization = fuzz_buffer(input, len);
    const bool by_params = fuzz_byte(input) % 4 == 0;
    const bool done = slot->functions->instantiate(slot->ctx, by_params ? 128 : 0, fuzz_byte(input) % 2,
                                                   personalization, len, by_params ? params : NULL) == 1;
    FUZZ_CHECK(!done || state_of(slot) == EVP_RAND_STATE_READY);
    FUZZ_CHECK(!done || !is_drbg(slot) || (drng_process_healthy() && machine_seeds() > 0));
    free(personalization);
}

static void reseed(const struct slot *slot, struct fuzz_input *input)
{
    const size_t len = fuzz_length(input, 70000);
    unsigned char *entropy = fuzz_buffer(input, len);
    const bool done = slot->functions->reseed(slot->ctx, fuzz_byte(input) % 2, entropy, len, NULL, 0) == 1;
    FUZZ_CHECK(!done || drng_process_healthy());
    FUZZ_CHECK(!done || !is_drbg(slot) || (machine_seeds() > 0 && !wiped(slot)));
    free(entropy);
}

static void random_bytes(struct fuzz_input *input)
{
    const size_t len = fuzz_length(input, 200000);
    unsigned char *out = fuzz_output(len);
    const unsigned strength = 64U * (fuzz_byte(input) % 6);
    const bool done = drng_random_bytes(provctx, fuzz_byte(input) % 3, out, len, strength) == 1;
    check_output(done, out, len);
    FUZZ_CHECK(!done || len == 0 || machine_seeds() > 0);
    free(out);
}

/* From now on this is a child of what it was. What the kernel would have wiped still stands: drng must not use it. */
static void fork_all(void)
{
    atomic_store(&drng_fork_page->generation, 0);
    atomic_store(&drng_fork_page->epoch, 0);
}

static void uninstantiate(const struct slot *slot)
{
    FUZZ_CHECK(slot->functions->uninstantiate(slot->ctx) == 1);
    FUZZ_CHECK(slot->functions->verify_zeroization(slot->ctx) == 1);
    FUZZ_CHECK(state_of(slot) == EVP_RAND_STATE_UNINITIALISED);
}

static void step_of_process(uint8_t choice, struct fuzz_input *input)
{
    switch (choice % 4) {
    case 0:
        machine_change(input);
        break;
    case 1:
        fork_all();
        break;
    case 2:
        random_bytes(input);
        break;
    default:
        if (fuzz_byte(input) % 4 == 0) {
            atomic_store(&drng_failed_algorithm, "AES");
        }
        break;
    }
}

static void step(struct fuzz_input *input)
{
    const uint8_t choice = fuzz_byte(input);
    struct slot *slot = &slots[choice / 8 % SLOTS];
    if (choice >= 8 * SLOTS && choice % 2 == 0) {
        step_of_process(choice / 2, input);
        return;
    }
    if (slot->ctx == NULL) {
        make(slot, input);
        return;
    }
    switch (choice % 8) {
    case 0:
    case 1:
        generate(slot, input);
        break;
    case 2:
        instantiate(slot, input);
        break;
    case 3:
        get_seed(slot, input);
        break;
    case 4:
        reseed(slot, input);
        break;
    case 5:
        (void)slot->functions->enable_locking(slot->ctx);
        break;
    case 6:
        uninstantiate(slot);
        break;
    default:
        if (slot->children == 0) {
            drop(slot);
        }
        break;
    }
}

/* ---- One process for each input ---- */

static void open_provider(struct fuzz_input *input)
{
    static const char *const keys[][2] = {
        {NULL, NULL}, {"fallback", "no"}, {"source", "rdrand"}, {"request_mixing", "yes"}};
    const char *const *key = keys[fuzz_byte(input) % 4];
    fake_core_set(key[0], key[1]);
    provctx = drng_provctx_new(fake_handle, fake_core);
    FUZZ_CHECK(provctx != NULL);
    FUZZ_CHECK(drng_pairs_open(provctx));
}

static void close_provider(void)
{
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < SLOTS; i++) {
            if (slots[i].ctx != NULL && slots[i].children == 0) {
                drop(&slots[i]);
                any = true;
            }
        }
    }
    drng_pairs_close(provctx);
    drng_provctx_free(provctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input input = {data, len};
    machine_start(&input);
    open_provider(&input);
    for (unsigned i = 0; i < MAX_STEPS && input.len > 0; i++) {
        const struct machine_mark mark = machine_mark();
        step(&input);
        machine_check(&mark);
    }
    close_provider();
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    kinds[CTR_DRBG] = functions_of(drng_drbg_functions);
    kinds[DRNG_SEED] = functions_of(drng_seed_src_functions);
    kinds[RDRAND] = functions_of(drng_rdrand_functions);
    machine_open();
    return 0;
}
